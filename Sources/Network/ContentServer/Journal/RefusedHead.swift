internal import Base
internal import HTTPCodecs
internal import HTTPModel

/// What can be read of a head that was refused.
struct RefusedHead {
    private(set) var method: [UInt8] = []
    private(set) var target: [UInt8] = []
    private(set) var host = ""
    /// The label that the client gives itself; `nil` for none.
    private(set) var client: String?

    init(_ bytes: [UInt8]) {
        let lines = bytes.split(separator: 0x0A, maxSplits: Self.limit)
        let words = (lines.first ?? []).trimmingWhitespace.split(separator: 0x20, maxSplits: 2)
        method = words.first.map { [UInt8]($0) } ?? []
        target = words.count > 1 ? [UInt8](words[1]) : []
        for line in lines.dropFirst().prefix(Self.limit) {
            let name = line.prefix { $0 != 0x3A }
            let value = line.dropFirst(name.count + 1).filter { $0 > 0x20 && $0 < 0x7F }
            if name.equalsIgnoringCase("host") {
                host = HostField.parse(value[...])?.host ?? ""
            } else if name.equalsIgnoringCase("sallyport-client"), (1...64).contains(value.count) {
                client = value.text
            }
        }
    }

    /// Of lines.
    private static let limit = 200
}
