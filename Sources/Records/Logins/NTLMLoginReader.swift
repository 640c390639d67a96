internal import Base

/// NTLM's answers in SMB ([MS-SMB2] §2.2.5) and DCE/RPC ([MS-RPCE] §2.2.2.11), which carry them as
/// they are.
enum NTLMLoginReader {
    /// The protocol that carries them, `nil` if it is neither of the two.
    static func name(_ client: [UInt8]) -> ProtocolName? {
        let marks: [[UInt8]] = [[0xFE, 0x53, 0x4D, 0x42], [0xFF, 0x53, 0x4D, 0x42]]
        // Behind the length of four bytes.
        if client.first == 0, marks.contains(where: { client.dropFirst(4).starts(with: $0) }) {
            return .smb
        }
        // Version 5, a bind, first and last fragment at once.
        let isBind = client.starts(with: [5, 0, 11]) && client.dropFirst(3).first ?? 0 & 1 != 0
        return isBind && client.count >= 16 ? .dceRPC : nil
    }

    static func logins(_ name: ProtocolName, client: [UInt8]) -> [ClearLogin] {
        guard let answer = NTLMAnswer(in: client), answer.isWhole else { return [] }
        return ClearLogin(name, answer).map { [$0] } ?? []
    }
}
