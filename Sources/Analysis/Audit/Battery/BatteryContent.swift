/// What a download left, told by its bytes.
package enum BatteryContent: Sendable, Equatable {
    /// There is no file, or nothing in it.
    case nothing
    case right
    /// What the first response brought, unchanged.
    case beginning
    /// That, and behind it all of a version.
    case beginningAndWhole
    /// That, and behind it what was answered in the place of a part.
    case beginningAndPage
    /// What was answered in the place of a part, and nothing else.
    case page
    /// The beginning of one version, and the rest of another.
    case spliced
    case other

    /// - Parameters:
    ///   - expected: what the server holds in the end.
    ///   - first: what it held first.
    ///   - page: what it answers when it is asked for a part.
    package init(_ bytes: [UInt8]?, expected: [UInt8], first: [UInt8], page: [UInt8] = []) {
        guard let bytes, !bytes.isEmpty else {
            self = .nothing
            return
        }
        let known =
            zip(bytes, first).enumerated().first { $1.0 != $1.1 }?.offset
            ?? min(bytes.count, first.count)
        func isBeginning(with end: [UInt8]) -> Bool {
            let count = bytes.count - end.count
            return !end.isEmpty && (1...first.count).contains(count) && count <= known
                && bytes[count...].elementsEqual(end)
        }
        if bytes == expected {
            self = .right
        } else if known == bytes.count {
            self = .beginning
        } else if isBeginning(with: expected) || isBeginning(with: first) {
            self = .beginningAndWhole
        } else if isBeginning(with: page) {
            self = .beginningAndPage
        } else if bytes == page {
            self = .page
        } else if known > 0, bytes.count == expected.count,
            bytes[known...].elementsEqual(expected[known...])
        {
            self = .spliced
        } else {
            self = .other
        }
    }
}
