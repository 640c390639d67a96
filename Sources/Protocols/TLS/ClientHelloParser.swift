/// Takes the fields out of a whole hello message.
struct ClientHelloParser {
    private var hello = ClientHello()
    private var cursor: ClientHelloCursor

    init(message: [UInt8]) {
        hello.raw = message
        cursor = ClientHelloCursor(message, onEnd: .truncatedHello)
    }

    /// Reads the message of RFC 8446 §4.1.2, its header included.
    mutating func parse(
        format: ClientHello.Format = .tls
    ) throws(ClientHelloViolation) -> ClientHello {
        hello.format = format
        _ = try cursor.bytes(4)
        hello.legacyVersion = try cursor.number16()
        hello.random = try cursor.bytes(32)
        let sessionID = try cursor.vector8()
        guard sessionID.count <= 32 else { throw .badLength(.sessionID) }
        hello.sessionIDLength = sessionID.count
        if format == .dtls { _ = try cursor.vector8() }
        var suites = try cursor.vector16()
        guard suites.count > 0, suites.count.isMultiple(of: 2) else {
            throw .badLength(.cipherSuites)
        }
        hello.cipherSuites = try suites.numbers16()
        hello.compressionMethods = try cursor.vector8().rest
        guard !hello.compressionMethods.isEmpty else { throw .badLength(.compressionMethods) }
        // Clients older than TLS 1.2 may end here.
        if cursor.count > 0 {
            var extensions = try cursor.vector16()
            guard cursor.count == 0 else { throw .trailingBytes(cursor.count) }
            try readExtensions(&extensions)
        }
        return hello
    }

    /// Reads the message of RFC 5246 §E.2, from its type on.
    mutating func parseSSL2() throws(ClientHelloViolation) -> ClientHello {
        hello.format = .ssl2
        _ = try cursor.bytes(1)
        hello.legacyVersion = try cursor.number16()
        let suitesLength = Int(try cursor.number16())
        hello.sessionIDLength = Int(try cursor.number16())
        let challengeLength = Int(try cursor.number16())
        guard suitesLength > 0, suitesLength.isMultiple(of: 3) else {
            throw .badLength(.cipherSuites)
        }
        guard hello.sessionIDLength <= 32 else { throw .badLength(.sessionID) }
        guard (16...32).contains(challengeLength) else { throw .badLength(.challenge) }
        for _ in 0..<suitesLength / 3 {
            let kind = try cursor.number8()
            let suite = try cursor.number16()
            if kind == 0 { hello.cipherSuites.append(suite) }
        }
        _ = try cursor.bytes(hello.sessionIDLength)
        hello.random = try cursor.bytes(challengeLength)
        guard cursor.count == 0 else { throw .trailingBytes(cursor.count) }
        return hello
    }

    private mutating func readExtensions(
        _ list: inout ClientHelloCursor
    ) throws(ClientHelloViolation) {
        var seen: Set<UInt16> = []
        while list.count > 0 {
            let type = try list.number16()
            guard seen.insert(type).inserted else { throw .duplicateExtension(type) }
            hello.extensions.append(type)
            var content = try list.vector16()
            content.onEnd = .truncatedExtension(type)
            try readExtension(type, &content)
        }
    }

    private mutating func readExtension(
        _ type: UInt16, _ content: inout ClientHelloCursor
    ) throws(ClientHelloViolation) {
        switch ClientHello.ExtensionType(rawValue: type) {
        case .serverName:
            hello.serverName = try readServerName(&content)
        case .supportedGroups:
            hello.groups = try readNumbers(type, content.vector16())
        case .pointFormats:
            hello.pointFormats = try content.vector8().rest
            guard !hello.pointFormats.isEmpty else { throw .badExtension(type) }
        case .signatureAlgorithms:
            hello.signatureAlgorithms = try readNumbers(type, content.vector16())
        case .applicationProtocols:
            hello.protocolNames = try readProtocolNames(type, content.vector16())
        case .supportedVersions:
            hello.supportedVersions = try readNumbers(type, content.vector8())
        case nil:
            return
        }
        guard content.count == 0 else { throw .badExtension(type) }
    }

    private func readNumbers(
        _ type: UInt16, _ list: ClientHelloCursor
    ) throws(ClientHelloViolation) -> [UInt16] {
        var list = list
        guard list.count > 0, list.count.isMultiple(of: 2) else { throw .badExtension(type) }
        return try list.numbers16()
    }

    private func readProtocolNames(
        _ type: UInt16, _ list: ClientHelloCursor
    ) throws(ClientHelloViolation) -> [[UInt8]] {
        var list = list
        var names: [[UInt8]] = []
        while list.count > 0 {
            let name = try list.vector8().rest
            guard !name.isEmpty else { throw .badExtension(type) }
            names.append(name)
        }
        guard !names.isEmpty else { throw .badExtension(type) }
        return names
    }

    /// Reads the list of names (RFC 6066 §3), of which only host names were ever defined.
    private func readServerName(
        _ content: inout ClientHelloCursor
    ) throws(ClientHelloViolation) -> String? {
        var list = try content.vector16()
        var hostName: [UInt8]?
        while list.count > 0 {
            let kind = try list.number8()
            let name = try list.vector16().rest
            guard kind == 0 else { continue }
            guard hostName == nil else { throw .badServerName(.several) }
            hostName = name
        }
        guard let hostName else { throw .badServerName(.empty) }
        return try ClientHelloServerName.read(hostName)
    }
}
