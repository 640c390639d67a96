internal import Base

/// One name and value of a query or of a submitted form, decoded.
package struct FormItem: Sendable, Equatable {
    package let name: [UInt8]
    package let value: [UInt8]

    package init(name: [UInt8], value: [UInt8]) {
        self.name = name
        self.value = value
    }

    /// How many items are read; the rest is ignored, so that a query cannot cost without bound.
    package static let limit = 1000

    /// Reads `application/x-www-form-urlencoded`; an item whose percent-encoding is broken is left
    /// out (URL standard §5.1, but strict).
    package static func parse(_ bytes: ArraySlice<UInt8>) -> [FormItem] {
        bytes.split(separator: UInt8(ascii: "&"), maxSplits: limit).prefix(limit).compactMap {
            let name = $0.prefix { $0 != UInt8(ascii: "=") }
            guard let decodedName = PercentCoding.strictlyDecoded(name, plusIsSpace: true),
                let decodedValue = PercentCoding.strictlyDecoded(
                    $0.dropFirst(name.count + 1), plusIsSpace: true)
            else { return nil }
            return FormItem(name: decodedName, value: decodedValue)
        }
    }
}
