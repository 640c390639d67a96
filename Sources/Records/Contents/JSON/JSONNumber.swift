internal import Base

/// The numbers of JSON, also those that some writers write and the grammar does not have: `01`.
enum JSONNumber {
    static func isKnown(_ text: [UInt8]) -> Bool {
        guard let first = text.first, first != UInt8(ascii: "+"), first != UInt8(ascii: ".") else {
            return false
        }
        return Double(text.text) != nil
    }

    /// Whether two numbers have one canonical spelling.
    static func areEqual(_ number: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Bool {
        if isWhole(number) || isWhole(other) { return canonical(number) == canonical(other) }
        return Double(number.text) == Double(other.text)
    }

    private static func isWhole(_ number: ArraySlice<UInt8>) -> Bool {
        number.allSatisfy { $0.isASCIIDigit || $0 == UInt8(ascii: "-") }
    }

    /// The spelling that equal numbers share. A whole number keeps all its digits; another has
    /// those that a double has.
    static func canonical(_ number: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let text = number.text
        if number.count < 18, let whole = Int64(text) { return Array(String(whole).utf8)[...] }
        guard !isWhole(number), let value = Double(text) else { return number }
        if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 {
            return Array(String(whole).utf8)[...]
        }
        return Array("\(value)".utf8)[...]
    }
}
