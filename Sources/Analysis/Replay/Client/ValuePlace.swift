internal import Base

/// Where in a response a value stands that the origin made up.
package enum ValuePlace: Sendable, Hashable, CustomStringConvertible {
    case cookie(String)
    case header(String)
    /// A parameter or a segment of the URL that stands in another place.
    indirect case urlQuery(ValuePlace, String)
    indirect case urlSegment(ValuePlace, Int)
    /// A JSON string or number, such as `$.user.token`.
    case json(String)
    /// An input of a form in HTML, by its name.
    case field(String)
    case meta(String)
    /// The whole content.
    case content
    /// What stands in another place, without its percent-encoding.
    indirect case decoded(ValuePlace)

    /// What rules call it: `cookie session`, `body $.token`.
    package var description: String {
        switch self {
        case .cookie(let name): "cookie \(name)"
        case .header(let name): "header \(name)"
        case .urlQuery(let place, let name): "\(place) query \(name)"
        case .urlSegment(let place, let index): "\(place) segment \(index)"
        case .json(let path): "body \(path)"
        case .field(let name): "field \(name)"
        case .meta(let name): "meta \(name)"
        case .content: "body"
        case .decoded(let place): "\(place) decoded"
        }
    }

    /// The name that says what the value is for.
    package var name: String {
        switch self {
        case .cookie(let name), .header(let name), .field(let name), .meta(let name): name
        case .urlQuery(_, let name): name
        case .urlSegment, .content: ""
        case .json(let path): path.split(separator: ".").last.map(String.init) ?? ""
        case .decoded(let place): place.name
        }
    }
}

extension ValuePlace {
    /// The lists that an id at this place names one of, as paths have them: `orders` for what stands
    /// behind it in a URL, or is called `id` in the answer to a request for `/orders`.
    ///
    /// - Parameters:
    ///   - before: the segment before this one, if the place is one of a URL.
    ///   - asked: the last segment of the request's path.
    func collections(behind before: String?, asked: String) -> [String] {
        switch self {
        case .urlSegment: before.map { [$0] } ?? []
        case .json(let path) where ValueRule.namesOne(name): Self.lists(in: path) + [asked]
        default: []
        }
    }

    /// The name of the list that a path leads into last: `lines` for `$.lines[0].id`.
    private static func lists(in path: String) -> [String] {
        guard let bracket = path.lastIndex(of: "[") else { return [] }
        let name = path[..<bracket].split(separator: ".").last ?? ""
        return name.isEmpty || name == "$" ? [] : [String(name)]
    }
}

/// Judges whether a value is worth following: one that an origin made up, and not a word that
/// stands in two messages by chance.
package enum ValueRule {
    /// In bytes: shorter ones stand in requests by chance.
    static let leastLength = 6
    /// In bytes, for a value whose name says that it is a token.
    static let leastNamedLength = 4
    /// In bytes: longer ones are documents.
    static let lengthLimit = 4096

    package static func isDistinctive(_ value: [UInt8], name: String) -> Bool {
        guard value.count >= leastNamedLength, value.count <= lengthLimit,
            !value.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else { return false }
        if isSecret(name) { return !words.contains(value.map(\.asciiLowercased).text) }
        guard value.count >= leastLength else { return false }
        let digits = value.count { $0.isASCIIDigit }
        let letters = value.count { $0.isASCIILetter }
        if digits > 0 { return digits + letters >= leastLength }
        guard !value.contains(0x20) else { return false }
        let changes = zip(value, value.dropFirst()).count {
            $0.isASCIILetter && $1.isASCIILetter && ($0 ^ $1) & 0x20 != 0
        }
        // Words have one capital, or one for each of their parts; random letters change often.
        return letters >= 16 && changes * 4 >= letters || letters >= 32 && value.count == letters
    }

    /// Whether a name says that its value tells one thing of many: `id`, `orderId`, `order_id`.
    package static func namesOne(_ name: String) -> Bool {
        let bare = name.utf8.map(\.asciiLowercased).text
        if ["id", "uuid", "guid", "key", "number", "slug", "ref"].contains(bare) { return true }
        return name.hasSuffix("Id") || name.hasSuffix("ID") || bare.hasSuffix("_id")
            || bare.hasSuffix("-id") || bare.hasSuffix("uuid")
    }

    /// Whether a value can be an id that counts behind the name of its list alone.
    package static func isID(_ value: [UInt8]) -> Bool {
        value.count <= 64 && value.contains(where: \.isASCIIDigit)
            && value.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x2F }
    }

    /// Whether a name says that its value is made up for the client.
    package static func isSecret(_ name: String) -> Bool {
        let bare = name.utf8.map(\.asciiLowercased).text
        return marks.contains { bare.contains($0) }
    }

    private static let marks = [
        "csrf", "xsrf", "token", "nonce", "session", "auth", "ticket", "jwt", "secret",
        "verification", "viewstate",
    ]
    /// What stands under such names and is none.
    private static let words: Set<String> = ["true", "false", "null", "none", "bearer", "basic"]
}
