extension Collection<UInt8> {
    /// The bytes with ASCII letters in lower case.
    package var lowercasedBytes: [UInt8] {
        // Copied at once and changed in place: `map` of a generic collection takes its elements one
        // by one through a witness table.
        var bytes = [UInt8](self)
        for index in bytes.indices { bytes[index] = bytes[index].asciiLowercased }
        return bytes
    }
}

extension [UInt8] {
    /// Whether `run` occurs in it; linear but for pathological repetitions, so keep both short.
    package func contains(run: [UInt8]) -> Bool { firstIndex(ofRun: run, from: 0) != nil }

    /// Where `run` begins first at or after `start`.
    package func firstIndex(ofRun run: [UInt8], from start: Int) -> Int? {
        guard let first = run.first, count >= run.count else { return nil }
        var index = Swift.max(0, start)
        while index <= count - run.count {
            if self[index] == first, self[index..<index + run.count].elementsEqual(run) {
                return index
            }
            index += 1
        }
        return nil
    }

    /// Whether it is UTF-8 without control characters other than tab and line ends.
    package var isPrintableText: Bool {
        guard allSatisfy({ $0 >= 0x20 && $0 != 0x7F || [9, 10, 13].contains($0) }) else {
            return false
        }
        return String(validating: self, as: UTF8.self) != nil
    }
}
