internal import Base
internal import HTTPServer

/// A page that makes a browser fetch many small things at once.
enum GalleryRoutes {
    static func routes(_ configuration: ContentServerConfiguration) -> [Route] {
        [
            .get("/gallery/:count") { page($0, configuration) },
            .get("/gallery/:count/:name") { item($0, configuration) },
        ]
    }

    /// What an item is; the items of a page take turns.
    private enum Kind: String, CaseIterable {
        case png
        case svg
        case css
        case js

        init(item: Int) {
            self = Self.allCases[item % Self.allCases.count]
        }
    }

    private static func page(
        _ request: ServerRequest, _ configuration: ContentServerConfiguration
    ) -> ServerResponse {
        guard let count = itemCount(request) else { return .plain(404) }
        var head = ""
        var body = ""
        for item in 0..<count {
            let kind = Kind(item: item)
            let link = "/gallery/\(count)/\(item).\(kind.rawValue)"
            switch kind {
            case .png, .svg:
                body += "<img src=\"\(link)\" width=\"48\" height=\"48\" alt=\"\(item)\">\n"
            case .css: head += "<link rel=\"stylesheet\" href=\"\(link)\">\n"
            case .js: body += "<script src=\"\(link)\"></script>\n"
            }
        }
        let text = """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <title>Gallery of \(count)</title>
            <link rel="icon" href="data:,">
            \(head)<h1>Gallery of \(count)</h1>
            \(body)</html>

            """
        return representation(FileType.html, [UInt8](text.utf8), configuration)
            .response(to: request)
    }

    private static func item(
        _ request: ServerRequest, _ configuration: ContentServerConfiguration
    ) -> ServerResponse {
        let name = request.match["name"]
        let digits = name.prefix { $0 != UInt8(ascii: ".") }
        guard let count = itemCount(request), let number = decimal(digits), number < UInt64(count)
        else { return .plain(404) }
        let item = Int(number)
        let kind = Kind(item: item)
        guard name.elementsEqual("\(item).\(kind.rawValue)".utf8) else { return .plain(404) }
        let color = GeneratedContent(seed: UInt64(item)).word(0)
        let bytes =
            switch kind {
            case .png: PixelImage.png(color: color)
            case .svg: [UInt8](svg(item, color).utf8)
            case .css: [UInt8](".item-\(item) { color: \(hex(color)); }\n".utf8)
            case .js: [UInt8]("window.items = (window.items || 0) + 1; // \(item)\n".utf8)
            }
        return representation(
            FileType.of(fileName: name), bytes, configuration
        ).response(to: request)
    }

    private static func representation(
        _ type: String, _ bytes: [UInt8], _ configuration: ContentServerConfiguration
    ) -> Representation {
        var representation = smallPage(type, bytes, configuration)
        representation.cacheControl = "public, max-age=60"
        return representation
    }

    private static func itemCount(_ request: ServerRequest) -> Int? {
        guard let count = request.match.number("count"), count <= itemLimit else { return nil }
        return Int(count)
    }

    private static func svg(_ item: Int, _ color: UInt64) -> String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48">\
        <rect width="48" height="48" fill="\(hex(color))"/>\
        <text x="24" y="30" text-anchor="middle">\(item)</text></svg>

        """
    }

    private static func hex(_ color: UInt64) -> String {
        let digits = String(color & 0xFF_FFFF, radix: 16)
        return "#" + String(repeating: "0", count: 6 - digits.utf8.count) + digits
    }

    private static let itemLimit: UInt64 = 1000
}
