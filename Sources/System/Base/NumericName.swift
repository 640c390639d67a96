extension ArraySlice<UInt8> {
    /// Whether a resolver may take a host's name for an IPv4 address: its last label is a number,
    /// decimal or hexadecimal with `0x`, as in `127.1`, `0x7f.1` and `2130706433`. Filters do not.
    package var readsAsIPv4: Bool {
        let name = last == 0x2E ? dropLast() : self
        let label = name[(name.lastIndex(of: 0x2E).map { $0 + 1 } ?? name.startIndex)...]
        guard !label.isEmpty else { return false }
        if label.allSatisfy(\.isASCIIDigit) { return true }
        return label.count >= 2 && label[label.startIndex] == 0x30
            && label[label.startIndex + 1] | 0x20 == 0x78
            && label.dropFirst(2).allSatisfy { $0.hexDigitValue != nil }
    }
}
