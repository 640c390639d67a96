internal import Base
internal import HTTPModel

/// Writes the fields of one head for the next hop: those that stay are copied in runs.
struct FieldsWriter {
    enum Hop {
        case request
        case response
    }

    /// How many names of Connection count; nobody has a use for more, and each is compared with
    /// every field.
    private static let namedLimit = 16

    private let fields: Fields
    private let forwarding: Forwarding
    private let hop: Hop
    /// The names that Connection holds, but for the usual options.
    private var named: [ArraySlice<UInt8>] = []
    private var sendsUpgrade = false
    private var sendsTE = false
    private var wroteConnection = false
    private var wroteFraming = false

    init(_ fields: Fields, _ forwarding: Forwarding, hop: Hop) {
        self.fields = fields
        self.forwarding = forwarding
        self.hop = hop
        for slice in fields.slices {
            switch slice.known {
            case .connection: collectNames(in: fields.value(slice))
            case .upgrade: sendsUpgrade = forwarding.keepsUpgrade
            case .te: sendsTE = sendsTE || (hop == .request && asksForTrailers(slice))
            default: continue
            }
        }
    }

    /// Appends all fields and the empty line.
    mutating func write(into output: inout [UInt8]) {
        let slices = fields.slices
        var runStart = Int(slices.first?.nameStart ?? 0)
        for index in slices.indices {
            let slice = slices[index]
            guard !stays(slice) else { continue }
            output.append(contentsOf: fields.raw[runStart..<Int(slice.nameStart)])
            replace(slice, into: &output)
            runStart = index + 1 < slices.count ? Int(slices[index + 1].nameStart) : sectionEnd
        }
        if !slices.isEmpty { output.append(contentsOf: fields.raw[runStart..<sectionEnd]) }
        writeFraming(into: &output)
        writeConnection(into: &output)
        for field in forwarding.adding {
            output.append(contentsOf: field.name)
            HeadWriter.append(": ", to: &output)
            output.append(contentsOf: field.value)
            HeadWriter.append("\r\n", to: &output)
        }
        HeadWriter.append("\r\n", to: &output)
    }

    /// Where the empty line starts.
    private var sectionEnd: Int { fields.raw.count - 2 }

    /// Whether the line goes out as it came.
    private func stays(_ slice: FieldSlice) -> Bool {
        switch slice.known {
        case .connection, .keepAlive, .proxyConnection: return false
        case .proxyAuthorization where hop == .request: return false
        case .proxyAuthenticate where hop == .response: return false
        case .te: return false
        case .upgrade: return sendsUpgrade
        case .host where hop == .request && forwarding.host != nil: return false
        case .contentLength, .transferEncoding:
            guard forwarding.framing == .asCame else { return false }
        case .trailer:
            guard forwarding.framing == .asCame || forwarding.framing == .chunked else {
                return false
            }
        case .other where !named.isEmpty:
            guard !isNamed(fields.name(slice)) else { return false }
        default: break
        }
        guard !forwarding.dropping.isEmpty else { return true }
        let name = fields.name(slice)
        return !forwarding.dropping.contains { name.equalsIgnoringCase($0) }
    }

    /// Writes what stands in the place of a field that does not stay.
    private mutating func replace(_ slice: FieldSlice, into output: inout [UInt8]) {
        switch slice.known {
        case .connection:
            writeConnection(into: &output)
        case .contentLength, .transferEncoding:
            writeFraming(into: &output)
        case .te where sendsTE && asksForTrailers(slice):
            output.append(contentsOf: fields.name(slice))
            HeadWriter.append(": trailers\r\n", to: &output)
        case .host where hop == .request:
            guard let host = forwarding.host else { return }
            output.append(contentsOf: fields.name(slice))
            HeadWriter.append(": ", to: &output)
            output.append(contentsOf: host)
            HeadWriter.append("\r\n", to: &output)
        default: return
        }
    }

    private mutating func writeFraming(into output: inout [UInt8]) {
        guard !wroteFraming else { return }
        wroteFraming = true
        switch forwarding.framing {
        case .asCame, .untilClose: return
        case .chunked: HeadWriter.append("Transfer-Encoding: chunked\r\n", to: &output)
        case .length(let count):
            HeadWriter.append("Content-Length: ", to: &output)
            output.append(contentsOf: String(count).utf8)
            HeadWriter.append("\r\n", to: &output)
        }
    }

    private mutating func writeConnection(into output: inout [UInt8]) {
        guard !wroteConnection else { return }
        wroteConnection = true
        var options: [StaticString] = []
        if forwarding.closes {
            options.append("close")
        } else if forwarding.keepsAlive {
            options.append("keep-alive")
        }
        if sendsUpgrade { options.append("Upgrade") }
        if sendsTE { options.append("TE") }
        guard !options.isEmpty else { return }
        HeadWriter.append("Connection: ", to: &output)
        for (index, option) in options.enumerated() {
            if index > 0 { HeadWriter.append(", ", to: &output) }
            HeadWriter.append(option, to: &output)
        }
        HeadWriter.append("\r\n", to: &output)
    }

    private mutating func collectNames(in value: ArraySlice<UInt8>) {
        if value.equalsIgnoringCase("keep-alive") || value.equalsIgnoringCase("close") { return }
        for element in value.split(separator: 0x2C) {
            guard named.count < Self.namedLimit else { return }
            let name = element.trimmingWhitespace
            // The others are fields that `stays` decides on by itself.
            if KnownField(name: name.span) == .other, !name.equalsIgnoringCase("close") {
                named.append(name)
            }
        }
    }

    private func isNamed(_ name: ArraySlice<UInt8>) -> Bool {
        named.contains { candidate in
            candidate.count == name.count
                && zip(candidate, name).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
        }
    }

    /// Whether TE lists `trailers` (RFC 9110 §10.1.4).
    private func asksForTrailers(_ slice: FieldSlice) -> Bool {
        fields.value(slice).split(separator: 0x2C).contains {
            $0.trimmingWhitespace.equalsIgnoringCase("trailers")
        }
    }
}
