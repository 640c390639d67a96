/// A number, or a few with what stands between them, without a string for each piece.
package struct ShortText {
    /// Room for a number, which has 20 at most; what is made of several has fewer.
    private var bytes = [24 of UInt8](repeating: 0)
    private var count = 0

    package init(_ number: Int64) { append(number) }

    package mutating func append(_ number: Int64) {
        var rest = number.magnitude
        var length = 1
        var power: UInt64 = 10
        while length < 19, rest >= power {
            length += 1
            power *= 10
        }
        if number < 0 { append(UInt8(ascii: "-")) }
        for place in (count..<count + length).reversed() {
            bytes[place] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        count += length
    }

    package mutating func append(_ byte: UInt8) {
        bytes[count] = byte
        count += 1
    }

    package mutating func append(_ word: StaticString) {
        for index in 0..<word.utf8CodeUnitCount { append(unsafe word.utf8Start[index]) }
    }

    package var text: String {
        unsafe bytes.span.extracting(..<count).withUnsafeBufferPointer { unsafe $0.text }
    }

    /// Writes it behind what is there.
    package func write(to texts: inout [UInt8]) {
        for index in 0..<count { texts.append(bytes[index]) }
    }
}
