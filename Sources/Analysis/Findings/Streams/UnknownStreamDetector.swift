internal import Base
internal import Logins
internal import Traffic

/// BIN-PLAINTEXT and BIN-RANDOM: what streams in cleartext show that are in no known protocol.
enum UnknownStreamDetector {
    static func examine(_ view: MessageView) -> [RuleMatch] {
        guard view.isClear else { return [] }
        let sides: [(ConnectionRecord.Side, [UInt8])] = [
            (.client, view.client), (.origin, view.origin),
        ]
        return sides.flatMap { side, stream in examine(stream, of: side) }
    }

    private static func examine(_ stream: [UInt8], of side: ConnectionRecord.Side) -> [RuleMatch] {
        guard stream.count >= PlaintextProof.leastCount, !beginsEncrypted(stream) else { return [] }
        guard let proof = PlaintextProof(of: stream) else {
            let test = RandomTest(stream.prefix(PlaintextProof.lengthLimit))
            guard test.looksRandom == true else { return [] }
            var result = match(.streamRandom, .info, .tentative)
            result.notes = [.measured(.noPlaintext(side, inAtLeast: roundedDown(test.count)))]
            return [result]
        }
        var result = match(.streamPlaintext, .medium, proof.form.confidence)
        result.notes = [.measured(.readable(side, proof.form, offset: proof.offset))]
        return [result] + secrets(proof)
    }

    /// The passwords in what can be read.
    private static func secrets(_ proof: PlaintextProof) -> [RuleMatch] {
        var reader = FieldReader(byteLimit: 1 << 18)
        reader.read(message: proof.content)
        var found = PasswordFieldDetector.examine(reader.fields, verdict: [])
        if found.isEmpty {
            // Lines, each of which may begin with a word or a head, which may look like a binary form
            // with what follows.
            var reader = FieldReader(byteLimit: 1 << 18)
            for line in proof.content.split(separator: 0x0A).prefix(lineLimit) {
                let start = line.prefix(headLimit).firstIndex(of: 0x7B) ?? line.startIndex
                reader.read(message: Array(line[start...].filter { $0 != 0x0D }))
            }
            found = PasswordFieldDetector.examine(reader.fields, verdict: [])
        }
        return found.prefix(8).map { inner in
            var result = match(.streamPlaintext, min(inner.severity, .high), inner.confidence)
            result.container = .dialogue
            result.name = inner.name
            result.pointer = inner.pointer
            result.steps = inner.steps
            result.value = inner.value
            result.isPassword = true
            return result
        }
    }

    /// What other protocols encrypt from their first bytes on: TLS records, SSH, and their like.
    private static func beginsEncrypted(_ stream: [UInt8]) -> Bool {
        SpokenProtocol.isTLS(stream) || SpokenProtocol.isSSH(stream)
    }

    /// A power of two, so that the same finding is told of streams of all lengths.
    private static func roundedDown(_ count: Int) -> Int {
        1 << (Int.bitWidth - 1 - count.leadingZeroBitCount)
    }

    private static let lineLimit = 64
    /// In bytes.
    private static let headLimit = 32

    private static func match(
        _ rule: RuleID, _ severity: Severity, _ confidence: Confidence
    ) -> RuleMatch {
        var result = RuleMatch(rule, severity, confidence)
        result.place = .service
        result.protocolName = .other
        return result
    }
}

extension RuleText {
    static let streamPlaintext = RuleText(
        title: "Readable content in a protocol of its own, without TLS",
        reason: "anyone on the path reads what is sent, and can change it",
        advice: "speak the protocol inside of TLS",
        decision:
            "A stream in no known protocol and without TLS holds JSON, XML, a property list,"
            + " MessagePack, CBOR, a file of a known format, UTF-8 with 16 letters, 16 printable"
            + " characters in a row, or what unpacks to that; high where a field is named like a"
            + " password. Protocol Buffers are firm, all else is certain.",
        exceptions:
            "Streams of less than 32 bytes. A run of text may be a greeting before encryption"
            + " begins.",
        worst: .high,
        weaknesses: [319, 311])

    static let streamRandom = RuleText(
        title: "Protocol of its own whose bytes look random",
        reason: "whether it protects what is sent, and against whom, cannot be seen from outside",
        advice: "use TLS, whose protection is known and can be tested",
        decision:
            "A stream in no known protocol and without TLS shows no plaintext, does not unpack, and"
            + " is like random bytes of the same number, at least 256, by chi-square and entropy.",
        exceptions:
            "It does not say that it is encrypted: what is compressed looks the same. Fewer than 256"
            + " bytes say nothing.",
        worst: .info,
        weaknesses: [327])
}
