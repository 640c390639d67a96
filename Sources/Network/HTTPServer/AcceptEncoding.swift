internal import Base
package import HTTPModel

/// What a client's Accept-Encoding leaves to choose from (RFC 9110 §12.5.3).
package struct AcceptEncoding: Sendable, Equatable {
    /// Whether gzip is acceptable and at least as welcome as no coding.
    package let prefersGzip: Bool
    /// Whether gzip is acceptable at all.
    package let acceptsGzip: Bool
    /// Whether the representation without a coding is acceptable.
    package let acceptsIdentity: Bool

    /// Reads all Accept-Encoding fields; an element that is malformed is left out.
    ///
    /// Without the field gzip is not chosen, although it would be permitted: such a client most
    /// likely cannot decode it.
    package init(_ fields: Fields) {
        var gzip: Int?
        var identity: Int?
        var any: Int?
        for line in fields.all(.acceptEncoding) {
            for element in line.split(separator: 0x2C, maxSplits: Self.limit).prefix(Self.limit) {
                guard let (coding, weight) = Self.element(element.trimmingWhitespace) else {
                    continue
                }
                if coding.equalsIgnoringCase("gzip") || coding.equalsIgnoringCase("x-gzip") {
                    gzip = max(gzip ?? 0, weight)
                } else if coding.equalsIgnoringCase("identity") {
                    identity = weight
                } else if coding.elementsEqual([0x2A]) {
                    any = weight
                }
            }
        }
        let gzipWeight = gzip ?? any ?? 0
        acceptsGzip = gzipWeight > 0
        acceptsIdentity = (identity ?? any ?? 1) > 0
        prefersGzip = acceptsGzip && gzipWeight >= (identity ?? 0)
    }

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
