internal import Base
package import HTTPCodecs
package import HTTPModel

/// What a client's Accept-Encoding leaves to choose from (RFC 9110 §12.5.3).
package struct AcceptEncoding: Sendable, Equatable {
    /// What a response is coded with.
    package enum Choice: Sendable, Equatable {
        case identity
        case coding(ContentCoding)
    }

    /// Of each coding that is named, in thousandths.
    private var weights: [ContentCoding: Int] = [:]
    /// Of the representation without a coding, and of all that is not named; `nil` if not named.
    private var identity: Int?
    private var any: Int?

    /// Reads all Accept-Encoding fields; an element that is malformed is left out.
    ///
    /// Without the field no coding is chosen, although all would be permitted: such a client most
    /// likely cannot decode them.
    package init(_ fields: Fields) {
        for line in fields.all(.acceptEncoding) {
            for element in line.split(separator: 0x2C, maxSplits: Self.limit).prefix(Self.limit) {
                guard let (name, weight) = Self.element(element.trimmingWhitespace) else {
                    continue
                }
                if let coding = ContentCoding(name: name) {
                    weights[coding] = max(weights[coding] ?? 0, weight)
                } else if name.equalsIgnoringCase("identity") {
                    identity = weight
                } else if name.elementsEqual([0x2A]) {
                    any = weight
                }
            }
        }
    }

    /// Whether the representation without a coding is acceptable.
    package var acceptsIdentity: Bool { (identity ?? any ?? 1) > 0 }

    /// Whether any coding is acceptable at all.
    package var acceptsCodings: Bool {
        ContentCoding.allCases.contains { weight(of: $0) > 0 }
    }

    /// The most welcome of `codings` or identity; of codings that are equally welcome the first,
    /// and any of them before identity.
    ///
    /// - Returns: `nil` if nothing is acceptable: 406.
    package func choice(of codings: [ContentCoding]) -> Choice? {
        var best: (coding: ContentCoding, weight: Int)?
        for coding in codings {
            let weight = weight(of: coding)
            if weight > best?.weight ?? 0 { best = (coding, weight) }
        }
        if let best, best.weight >= identity ?? 0 { return .coding(best.coding) }
        return acceptsIdentity ? .identity : nil
    }

    private func weight(of coding: ContentCoding) -> Int { weights[coding] ?? any ?? 0 }

    /// `gzip;q=0.5` as its name and its weight in thousandths; `nil` if it is malformed.
    private static func element(
        _ element: ArraySlice<UInt8>
    ) -> (coding: ArraySlice<UInt8>, weight: Int)? {
        let coding = element.prefix { $0 != UInt8(ascii: ";") }
        let name = coding.trimmingWhitespace
        guard !name.isEmpty else { return nil }
        guard coding.count < element.count else { return (name, 1000) }
        let parameter = element.dropFirst(coding.count + 1).trimmingWhitespace
        guard parameter.prefix(2).equalsIgnoringCase("q="),
            let weight = weight(parameter.dropFirst(2))
        else { return nil }
        return (name, weight)
    }

    /// A qvalue in thousandths (RFC 9110 §12.4.2): `0`, `0.5`, `1.000`.
    private static func weight(_ text: ArraySlice<UInt8>) -> Int? {
        guard let whole = text.first, whole == 0x30 || whole == 0x31, text.count <= 5 else {
            return nil
        }
        let rest = text.dropFirst()
        guard rest.isEmpty || rest.first == UInt8(ascii: ".") else { return nil }
        var thousandths = whole == 0x31 ? 1000 : 0
        var place = 100
        for digit in rest.dropFirst() {
            guard digit.isASCIIDigit else { return nil }
            thousandths += Int(digit &- 0x30) * place
            place /= 10
        }
        return thousandths <= 1000 ? thousandths : nil
    }

    /// Elements that are looked at in one field.
    private static let limit = 64
}
