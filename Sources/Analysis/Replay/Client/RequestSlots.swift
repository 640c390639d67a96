internal import Base
internal import Contents
internal import HTTPModel

/// A place in a request where a value may be replaced.
struct RequestSlot: Sendable, Equatable {
    enum Part: Sendable, Equatable {
        /// Of the head's bytes.
        case head
        /// Of the content.
        case content
    }

    /// How a value is written there.
    enum Spelling: Sendable, Equatable {
        case plain
        case percent
        case json
    }

    let part: Part
    let range: Range<Int>
    let spelling: Spelling
    /// As it is shown: `cookie session`, `query token`, `body $.id`.
    let name: String
    /// The cookie's name, which makes a value known however short it is.
    var cookie: String?
    /// What stands before a segment of a path, `orders` in `/api/orders/17`: it makes an id known
    /// however short it is.
    var collection: String?
}

/// Finds the places of a request that can hold a value, each with what it holds, decoded.
enum RequestSlots {
    typealias Visit = (RequestSlot, _ value: [UInt8]) -> Bool

    /// - Parameter visit: says whether it knows the value, so that no smaller piece is tried.
    static func read(_ head: RequestHead, _ content: [UInt8], _ visit: Visit) {
        url(head.raw[head.targetRange], .head, "", visit)
        for slice in head.fields.slices {
            let value = head.fields.value(slice)
            let name = head.fields.name(slice).map(\.asciiLowercased).text
            switch slice.known {
            case .cookie: cookies(value, visit)
            case .host, .contentLength, .transferEncoding, .connection, .contentType: continue
            default: field(value, "header \(name)", visit)
            }
        }
        guard !content.isEmpty else { return }
        read(content, head.fields.first(.contentType) ?? [], visit)
    }

    private static func url(
        _ url: ArraySlice<UInt8>, _ part: RequestSlot.Part, _ prefix: String, _ visit: Visit
    ) {
        let pieces = URLPieces(url)
        for (index, range) in pieces.segments.enumerated() {
            let slot = RequestSlot(
                part: part, range: range, spelling: .percent,
                name: "\(prefix)path segment \(index + 1)",
                collection: index > 0 ? url[pieces.segments[index - 1]].text : nil)
            _ = visit(slot, PercentCoding.decoded(url[range]))
        }
        for (name, range) in pieces.parameters {
            let slot = RequestSlot(
                part: part, range: range, spelling: .percent, name: "\(prefix)query \(name)")
            _ = visit(slot, PercentCoding.decoded(url[range], plusIsSpace: true))
        }
    }

    private static func cookies(_ value: ArraySlice<UInt8>, _ visit: Visit) {
        for cookie in CookiePair.sent(value) where cookie.hasValue {
            let (name, held) = (cookie.name.text, cookie.value)
            let slot = RequestSlot(
                part: .head, range: held.startIndex..<held.endIndex, spelling: .plain,
                name: "cookie \(name)", cookie: name)
            _ = visit(slot, Array(held))
        }
    }

    /// The whole value; else its URL's pieces, or its words: `Bearer` and a token.
    private static func field(_ value: ArraySlice<UInt8>, _ name: String, _ visit: Visit) {
        let slot = RequestSlot(
            part: .head, range: value.startIndex..<value.endIndex, spelling: .plain, name: name)
        if visit(slot, Array(value)) { return }
        if URLPieces.isURL(value) { return url(value, .head, name + " ", visit) }
        words(value, .head, name, visit)
    }

    private static func read(_ content: [UInt8], _ type: ArraySlice<UInt8>, _ visit: Visit) {
        let type = MediaType(type)
        if type.isForm {
            for (name, range) in URLPieces.parameters(content[...]) {
                let slot = RequestSlot(
                    part: .content, range: range, spelling: .percent, name: "form \(name)")
                _ = visit(slot, PercentCoding.decoded(content[range], plusIsSpace: true))
            }
            return
        }
        if JSONTokenizer.mayBegin(content[...]) || type.isJSON, let document = JSONDocument(content)
        {
            document.textsAndNumbers { path, place in
                let slot = RequestSlot(
                    part: .content, range: document[place].range, spelling: .json,
                    name: "body \(path)")
                _ = visit(slot, document.content(of: place))
            }
            return
        }
        guard type.isMultipart || type.isText || type.isXML,
            content.count <= Self.wordsLimit
        else { return }
        words(content[...], .content, "body", visit)
    }

    /// In bytes, of a content that is looked through word by word.
    private static let wordsLimit = 1 << 18

    private static func words(
        _ bytes: ArraySlice<UInt8>, _ part: RequestSlot.Part, _ name: String, _ visit: Visit
    ) {
        for word in bytes.split(whereSeparator: { $0 <= 0x20 || marks.contains($0) }) {
            guard word.count >= ValueRule.leastNamedLength, word.count < bytes.count else {
                continue
            }
            if offer(word, part, name, visit) { continue }
            let rest = word.drop { $0 != 0x3D }.dropFirst()
            if rest.count >= ValueRule.leastNamedLength { _ = offer(rest, part, name, visit) }
        }
    }

    private static func offer(
        _ word: ArraySlice<UInt8>, _ part: RequestSlot.Part, _ name: String, _ visit: Visit
    ) -> Bool {
        let range = word.startIndex..<word.endIndex
        return visit(
            RequestSlot(part: part, range: range, spelling: .plain, name: name), Array(word))
    }

    /// What stands around words: `" ' , ; < > & ( ) { } [ ]`.
    private static let marks = Set([UInt8]("\"',;<>&(){}[]".utf8))
}
