internal import Base
internal import DNS

/// Takes the names out of a message of a name server's protocol, in lower case.
enum DNSNames {
    static func read(_ bytes: [UInt8]) -> ContentValues {
        var output = ContentValues()
        var reader = DNSMessageReader(bytes.span)
        // What came before a violation counts.
        do throws(DNSViolation) { try reader.read() } catch { output.isWhole = false }
        add("question", reader.message.questions.map(\.name), to: &output)
        let answers = reader.message.answers
        add("answer", answers.map(\.name), to: &output)
        let names = answers.compactMap { if case .name(let name) = $0.data { name } else { nil } }
        add("answer", names, to: &output)
        return output
    }

    private static func add(_ place: String, _ names: [DNSName], to output: inout ContentValues) {
        guard output.enter(place.utf8) else { return }
        defer { output.leave() }
        for name in names where !name.labels.isEmpty {
            let text = name.description.utf8.map(\.asciiLowercased)
            if !output.append(.text, text) { output.isWhole = false }
        }
    }
}
