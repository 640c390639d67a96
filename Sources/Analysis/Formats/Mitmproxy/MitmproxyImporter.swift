internal import Base
internal import Recording
internal import Traffic

/// Reads dumps of mitmproxy in the versions 7 to 21 of its format: those of mitmproxy 5 and later.
///
/// It holds one flow at a time.
package struct MitmproxyImporter: CaptureImporter {
    /// In bytes: a longer flow is left out, since one has to be held whole.
    package var flowByteLimit = 512 << 20

    package init() {}

    /// Whether a file begins as a dump may: with the length of a flow and that of its first key.
    package static func recognizes(_ start: [UInt8]) -> Bool {
        let outer = start.prefix { $0.isASCIIDigit }
        guard 1...12 ~= outer.count, start.count > outer.count, start[outer.count] == 0x3A else {
            return false
        }
        let rest = start[(outer.count + 1)...]
        let inner = rest.prefix { $0.isASCIIDigit }
        guard 1...2 ~= inner.count, let length = Int(inner.text),
            rest.dropFirst(inner.count).first == 0x3A
        else { return false }
        let type = rest.dropFirst(inner.count + 1 + length).first
        return type == UInt8(ascii: ";") || type == UInt8(ascii: ",")
    }

    /// Errors: `mitmproxy-malformed`, `mitmproxy-version`; those of `input`.
    package func read(
        _ input: @escaping () throws -> [UInt8], into writer: ImportWriter
    ) async throws {
        var items = TnetstringReader(itemByteLimit: flowByteLimit)
        var machine = MitmproxyImportMachine(writer)
        defer { machine.finish() }
        do {
            while true {
                let bytes = try input()
                items.append(bytes)
                if bytes.isEmpty { items.finish() }
                while let item = try items.next() {
                    try machine.take(item)
                    await writer.recorder.waitForRoom()
                }
                if bytes.isEmpty { break }
            }
        } catch let violation as TnetstringViolation {
            throw Failure(
                "mitmproxy-malformed", party: .tool,
                "the file is no whole dump of mitmproxy: \(violation.kind.rawValue), at byte"
                    + " \(violation.offset)",
                hint: machine.flowCount > 0
                    ? "the \(machine.flowCount) flows before it were imported" : nil)
        }
    }
}
