internal import Base
internal import Contents
internal import HTTPModel

/// Finds the values that a response hands out.
enum ResponseValues {
    /// Calls `visit` with each place and its value.
    ///
    /// - Parameter content: as it came; the start of it if it is long.
    static func read(
        _ head: ResponseHead, _ content: [UInt8], _ visit: (ValuePlace, [UInt8]) -> Void
    ) {
        for slice in head.fields.slices {
            let value = head.fields.value(slice)
            if slice.known == .setCookie {
                cookie(value, visit)
                continue
            }
            let name = head.fields.name(slice).map(\.asciiLowercased).text
            guard !dullNames.contains(name), !name.hasPrefix("access-control-") else { continue }
            visit(.header(name), Array(value))
            if URLPieces.isURL(value) { pieces(of: value, in: .header(name), visit) }
        }
        guard !content.isEmpty else { return }
        read(BodyForm.decoded(content, head.fields), head.fields.first(.contentType) ?? [], visit)
    }

    private static func cookie(
        _ value: ArraySlice<UInt8>, _ visit: (ValuePlace, [UInt8]) -> Void
    ) {
        let cookie = CookiePair.set(value).cookie
        guard cookie.hasValue else { return }
        let place = ValuePlace.cookie(cookie.name.text)
        let plain = cookie.value
        visit(place, Array(plain))
        // What a page reads of its cookie and sends in a field is decoded on the way.
        let decoded = PercentCoding.decoded(plain)
        if !decoded.elementsEqual(plain) { visit(.decoded(place), decoded) }
    }

    private static func pieces(
        of url: ArraySlice<UInt8>, in place: ValuePlace, _ visit: (ValuePlace, [UInt8]) -> Void
    ) {
        let pieces = URLPieces(url)
        for (index, range) in pieces.segments.enumerated() {
            visit(
                .urlSegment(place, index + 1),
                PercentCoding.decoded(url[range]))
        }
        for (name, range) in pieces.parameters {
            visit(.urlQuery(place, name), PercentCoding.decoded(url[range], plusIsSpace: true))
        }
    }

    private static func read(
        _ content: [UInt8], _ type: ArraySlice<UInt8>, _ visit: (ValuePlace, [UInt8]) -> Void
    ) {
        let type = MediaType(type)
        if type.isHTML { return HTMLFields.read(content, visit) }
        if type.isJSON || JSONTokenizer.mayBegin(content[...]), let document = JSONDocument(content)
        {
            document.textsAndNumbers { path, place in
                let value = document.content(of: place)
                visit(.json(path), value)
                let isURL = document[place].kind == .string && URLPieces.isURL(value[...])
                if isURL { pieces(of: value[...], in: .json(path), visit) }
            }
            return
        }
        guard type.isText, content.count <= ValueRule.lengthLimit else { return }
        visit(.content, Array(content[...].trimmingWhitespace))
    }

    /// Fields that hold nothing an origin hands out for a client to send back.
    private static let dullNames: Set<String> = [
        "accept-ranges", "age", "allow", "alt-svc", "cache-control", "connection",
        "content-disposition", "content-encoding", "content-language", "content-length",
        "content-range", "content-security-policy", "content-type", "date", "expires",
        "keep-alive", "link", "permissions-policy", "pragma", "referrer-policy", "server",
        "strict-transport-security", "trailer", "transfer-encoding", "vary", "via",
        "x-content-type-options", "x-frame-options", "x-powered-by", "x-xss-protection",
    ]
}
