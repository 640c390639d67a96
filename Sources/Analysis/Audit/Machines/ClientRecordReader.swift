/// Tells the types of the records that a client sends, which stand in cleartext before each (RFC 8446
/// §5.1), and the alert that it gives in cleartext; nothing else of what the records hold is looked at.
///
/// NSS, for one, writes the version of its ClientHello on that alert, and OpenSSL does not read a
/// record of another version than the one that it has chosen.
struct ClientRecordReader {
    /// The types since the last look, each once.
    private(set) var types: Set<UInt8> = []
    /// The first fatal one that was in cleartext.
    private(set) var alert: UInt8?
    /// The beginning of an alert, which is in cleartext where it has two bytes and no more.
    private var content: [UInt8]?
    /// What came where a record was due and is none: the client has gone back to speaking in cleartext.
    private(set) var outside: [UInt8] = []
    private var header: [UInt8] = []
    private var rest = 0
    private var isLost = false

    /// Whether an alert in cleartext has begun, and its end is to come.
    var isInAlert: Bool { content != nil }

    mutating func receive(_ bytes: [UInt8]) {
        var place = 0
        defer { if isLost { keepOutside(bytes[place...]) } }
        while place < bytes.count, !isLost {
            if rest > 0 {
                let step = min(rest, bytes.count - place)
                if content != nil { content? += bytes[place..<place + step] }
                rest -= step
                place += step
                if rest == 0 { takeAlert() }
                continue
            }
            header.append(bytes[place])
            place += 1
            if header.count == 5 { takeHeader() }
        }
    }

    private mutating func takeHeader() {
        // What is no record has no length to go by.
        isLost = !(20...24).contains(header[0]) || header[1] != 3
        if isLost { return keepOutside(header[...]) }
        types.insert(header[0])
        rest = Int(header[3]) << 8 | Int(header[4])
        content = header[0] == RecordType.alert && rest == 2 ? [] : nil
        header = []
    }

    private mutating func keepOutside(_ bytes: ArraySlice<UInt8>) {
        outside += bytes.prefix(Self.outsideLimit - outside.count)
    }

    /// In bytes: a command or two.
    private static let outsideLimit = 4 * 1024

    private mutating func takeAlert() {
        if let content, content[0] == 2, ![0, 90].contains(content[1]) {
            alert = alert ?? content[1]
        }
        content = nil
    }
}
