internal import Base
internal import HTTPModel
internal import HTTPServer

/// The digests that a request asks for: by its fields, or by `?digest=` for clients that send none.
struct WantedDigests: Equatable {
    /// Of the whole representation: Repr-Digest (RFC 9530 §3).
    var representation: DigestAlgorithm?
    /// Of what this message holds: Content-Digest (RFC 9530 §2).
    var content: DigestAlgorithm?
    /// Of the whole representation, in the field of old: Digest (RFC 3230).
    var legacy: DigestAlgorithm?
    var lie: DigestLie?

    var isEmpty: Bool { representation == nil && content == nil && legacy == nil }

    init(_ request: ServerRequest) {
        for slice in request.fields.slices where slice.known == .other {
            let name = request.fields.name(slice)
            // One comparison for all other fields: this is asked of every request.
            guard name.count >= 11, name[name.startIndex] | 0x20 == UInt8(ascii: "w") else {
                continue
            }
            let value = request.fields.value(slice)
            if name.equalsIgnoringCase("want-repr-digest") {
                representation = Self.preferred(value, weighed: Self.integer)
            } else if name.equalsIgnoringCase("want-content-digest") {
                content = Self.preferred(value, weighed: Self.integer)
            } else if name.equalsIgnoringCase("want-digest") {
                legacy = Self.preferred(value, weighed: Self.qualityValue)
            }
        }
        if let words = request.path.queryValue("digest") { read(words) }
    }

    /// `repr`, `content` and `legacy`, one of `sha-256` and `sha-512`, and one lie.
    private mutating func read(_ words: [UInt8]) {
        let words = words.split(separator: 0x2C, maxSplits: 8).map { $0.text }
        let algorithm = words.contains("sha-512") ? DigestAlgorithm.sha512 : .sha256
        lie = words.lazy.compactMap(DigestLie.init(rawValue:)).first
        if words.contains("content") { content = algorithm }
        if words.contains("legacy") { legacy = algorithm }
        let isNamed = words.contains { ["repr", "sha-256", "sha-512"].contains($0) }
        if isNamed || (lie != nil && isEmpty) { representation = algorithm }
    }

    /// The algorithm with the highest weight, of equal ones the first; without any, none.
    private static func preferred(
        _ value: ArraySlice<UInt8>,
        weighed: (ArraySlice<UInt8>) -> (name: ArraySlice<UInt8>, weight: Int)?
    ) -> DigestAlgorithm? {
        var best: (algorithm: DigestAlgorithm, weight: Int)?
        for element in value.split(separator: 0x2C, maxSplits: limit).prefix(limit) {
            guard let (name, weight) = weighed(element.trimmingWhitespace),
                let algorithm = DigestAlgorithm(rawValue: name.map(\.asciiLowercased).text),
                algorithm == .sha256 || algorithm == .sha512, weight > best?.weight ?? 0
            else { continue }
            best = (algorithm, weight)
        }
        return best?.algorithm
    }

    /// `sha-256=10`: from 0 to 10 (RFC 9530 §4).
    private static func integer(
        _ element: ArraySlice<UInt8>
    ) -> (name: ArraySlice<UInt8>, weight: Int)? {
        let name = element.prefix { $0 != UInt8(ascii: "=") }
        guard let weight = decimal(element.dropFirst(name.count + 1)), weight <= 10 else {
            return nil
        }
        return (name, Int(weight))
    }

    /// `SHA-256;q=0.5` (RFC 3230 §4.3.1).
    private static func qualityValue(
        _ element: ArraySlice<UInt8>
    ) -> (name: ArraySlice<UInt8>, weight: Int)? {
        let value = ParameterizedValue(element)
        let name = [UInt8](value.text.utf8)[...]
        guard let quality = value["q"] else { return (name, 1000) }
        let digits = quality.filter { $0 != UInt8(ascii: ".") }
        guard digits.count <= 4, let number = decimal(digits) else { return nil }
        return (name, Int(number) * [1000, 100, 10, 1][max(0, digits.count - 1)])
    }

    /// Elements that are looked at in one field.
    private static let limit = 32
}

/// How a digest field is wrong on purpose.
enum DigestLie: String, Sendable, CaseIterable {
    /// A digest of nothing: its first bit is turned.
    case wrong = "lie"
    /// Repr-Digest of a part, as servers send that confuse it with Content-Digest.
    case part
    /// No Base64.
    case malformed
}
