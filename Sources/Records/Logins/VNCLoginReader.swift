internal import Base

/// VNC: the answer to a challenge of DES (RFC 6143 §7.2.2), which eight characters are behind.
enum VNCLoginReader {
    static func logins(client: [UInt8], origin: [UInt8]) -> [ClearLogin] {
        var (said, asked) = (ByteCursor(client[...]), ByteCursor(origin[...]))
        guard asked.bytes(12)?.starts(with: "RFB 003.".utf8) == true,
            let version = said.bytes(12), version.starts(with: "RFB 003.".utf8)
        else { return [] }
        // The client's version counts; only the older one lets the origin choose.
        if version.starts(with: "RFB 003.003".utf8) {
            guard asked.number(4) == 2 else { return [] }
        } else {
            guard asked.vector(1)?.contains(2) == true, said.number(1) == 2 else { return [] }
        }
        guard asked.bytes(16) != nil, let response = said.bytes(16),
            let login = ClearLogin(.vnc, .vncDES, user: nil, hash: response)
        else { return [] }
        return [login]
    }
}
