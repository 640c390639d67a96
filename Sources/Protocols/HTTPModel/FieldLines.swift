/// Field lines in the making (RFC 9112 §5), each `name: value`, behind whatever starts the head.
package struct FieldLines {
    private var raw: [UInt8]
    private var slices: [FieldSlice] = []

    /// - Parameter start: the first line of a head with its end; empty for none.
    package init(behind start: ArraySlice<UInt8> = []) { raw = Array(start) }

    package mutating func append(
        _ known: KnownField, _ name: some Sequence<UInt8>, _ value: some Sequence<UInt8>
    ) {
        let start = raw.count
        raw += name
        let nameEnd = raw.count
        raw += [0x3A, 0x20]
        let valueStart = raw.count
        raw += value
        slices.append(
            FieldSlice(known: known, name: start..<nameEnd, value: valueStart..<raw.count))
        raw += [0x0D, 0x0A]
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

    package var isEmpty: Bool { slices.isEmpty }

    /// The fields, with the empty line that ends them.
    package var fields: Fields { Fields(raw: raw + [0x0D, 0x0A], slices: slices) }
}

extension FieldSlice {
    /// The same field where its bytes stand elsewhere.
    package func moved(by shift: Int) -> FieldSlice {
        FieldSlice(
            known: known, name: name.lowerBound + shift..<name.upperBound + shift,
            value: value.lowerBound + shift..<value.upperBound + shift)
    }
}
