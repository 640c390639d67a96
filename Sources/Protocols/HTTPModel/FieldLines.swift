/// Field lines in the making (RFC 9112 §5), each `name: value`, behind whatever starts the head.
package struct FieldLines {
    private var raw: [UInt8]
    private var slices: [FieldSlice] = []

    /// - Parameters:
    ///   - start: the first line of a head with its end; empty for none. What it has reserved is used.
    ///   - capacity: about how many fields will come.
    package init(behind start: consuming [UInt8] = [], capacity: Int = 0) {
        raw = start
        slices.reserveCapacity(capacity)
    }

    package mutating func append(
        _ known: KnownField, _ name: Span<UInt8>, _ value: Span<UInt8>
    ) {
        let start = raw.count
        append(name)
        let nameEnd = raw.count
        raw.append(0x3A)
        raw.append(0x20)
        let valueStart = raw.count
        append(value)
        slices.append(
            FieldSlice(known: known, name: start..<nameEnd, value: valueStart..<raw.count))
        raw.append(0x0D)
        raw.append(0x0A)
    }

    private mutating func append(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe raw.append(contentsOf: $0) }
    }

    /// Appends a line as it came, byte for byte.
    ///
    /// - Parameters:
    ///   - fields: where `slice` is from.
    ///   - end: where the line ends in their bytes, behind its CRLF.
    package mutating func append(_ slice: FieldSlice, of fields: Fields, until end: Int) {
        let shift = raw.count - slice.name.lowerBound
        raw += fields.raw[slice.name.lowerBound..<end]
        slices.append(slice.moved(by: shift))
    }

    /// How many there are.
    package var count: Int { slices.count }
    /// With what starts the head, in bytes.
    package var size: Int { raw.count }

    /// The fields, with the empty line that ends them.
    package consuming func finish() -> Fields {
        raw.append(0x0D)
        raw.append(0x0A)
        return Fields(raw: raw, slices: slices)
    }
}

extension FieldSlice {
    /// The same field where its bytes stand elsewhere.
    package func moved(by shift: Int) -> FieldSlice {
        FieldSlice(
            known: known, name: name.lowerBound + shift..<name.upperBound + shift,
            value: value.lowerBound + shift..<value.upperBound + shift)
    }
}
