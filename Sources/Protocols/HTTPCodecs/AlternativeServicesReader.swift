internal import Base

/// Takes the value of an Alt-Svc field apart (RFC 7838 §3, RFC 9110 §5.6), in one pass.
struct AlternativeServicesReader {
    private typealias Violation = AlternativeServicesViolation

    private let value: ArraySlice<UInt8>
    private var position: Int

    init(_ value: ArraySlice<UInt8>) {
        self.value = value
        position = value.startIndex
    }

    /// Reads all of it; empty elements are passed over (RFC 9110 §5.6.1.2).
    mutating func readList() throws(AlternativeServicesViolation) -> [AlternativeServices.Service] {
        var services: [AlternativeServices.Service] = []
        while true {
            skipBlanks()
            guard let byte = next else { break }
            if byte == comma {
                position += 1
                continue
            }
            services.append(try readService())
            skipBlanks()
            guard next == nil || next == comma else { throw .separator }
        }
        guard !services.isEmpty else { throw .empty }
        return services
    }

    private mutating func readService() throws(AlternativeServicesViolation)
        -> AlternativeServices.Service
    {
        let start = position
        guard let name = PercentCoding.strictlyDecoded(readToken()) else {
            throw .percentEncoding
        }
        guard !name.isEmpty else { throw .protocolName }
        guard take(equals), next == quote else { throw .authority }
        let authority = try readQuotedString()
        var parameters: [AlternativeServices.Parameter] = []
        var end = position
        while true {
            skipBlanks()
            guard take(semicolon) else { break }
            skipBlanks()
            // A semicolon too many, which RFC 9110 §5.6.6 lets pass in lists of parameters.
            if next == nil || next == comma || next == semicolon { continue }
            parameters.append(try readParameter())
            end = position
        }
        return AlternativeServices.Service(
            protocolName: name, authority: authority, parameters: parameters,
            raw: [UInt8](value[start..<end]))
    }

    private mutating func readParameter() throws(AlternativeServicesViolation)
        -> AlternativeServices.Parameter
    {
        let name = readToken()
        guard !name.isEmpty, take(equals) else { throw .parameter }
        let isQuoted = next == quote
        let content = isQuoted ? try readQuotedString() : [UInt8](readToken())
        guard isQuoted || !content.isEmpty else { throw .parameter }
        return AlternativeServices.Parameter(name: name.map(\.asciiLowercased), value: content)
    }

    private mutating func readToken() -> ArraySlice<UInt8> {
        let start = position
        while let byte = next, byte.isTokenByte { position += 1 }
        return value[start..<position]
    }

    /// RFC 9110 §5.6.4.
    private mutating func readQuotedString() throws(AlternativeServicesViolation) -> [UInt8] {
        var content: [UInt8] = []
        position += 1
        while let byte = next {
            position += 1
            if byte == quote { return content }
            guard byte == backslash else {
                guard !byte.isForbiddenInValue else { throw .quotedString }
                content.append(byte)
                continue
            }
            guard let escaped = next, !escaped.isForbiddenInValue else { throw .quotedString }
            content.append(escaped)
            position += 1
        }
        throw .quotedString
    }

    private var next: UInt8? { position < value.endIndex ? value[position] : nil }

    private mutating func skipBlanks() {
        while let byte = next, byte.isBlank { position += 1 }
    }

    /// Whether the byte was there to be taken.
    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }
}

private let comma: UInt8 = 0x2C
private let equals: UInt8 = 0x3D
private let semicolon: UInt8 = 0x3B
private let quote: UInt8 = 0x22
private let backslash: UInt8 = 0x5C
