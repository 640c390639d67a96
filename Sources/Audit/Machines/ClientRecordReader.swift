/// Tells the types of the records that a client sends, which stand in clear before each (RFC 8446
/// §5.1); what the records hold is not looked at.
struct ClientRecordReader {
    /// The types since the last look, each once.
    private(set) var types: Set<UInt8> = []
    private var header: [UInt8] = []
    private var rest = 0
    private var isLost = false

    mutating func receive(_ bytes: [UInt8]) {
        var place = 0
        while place < bytes.count, !isLost {
            if rest > 0 {
                let step = min(rest, bytes.count - place)
                rest -= step
                place += step
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
        if !isLost { types.insert(header[0]) }
        rest = Int(header[3]) << 8 | Int(header[4])
        header = []
    }
}
