internal import Base
internal import Contents

/// The fields of a response that several rules ask for, found in one pass.
struct ResponseFacts {
    private(set) var cookies: [[UInt8]] = []
    /// Of `Content-Type`, the first; empty if it is not there.
    private(set) var type: [UInt8] = []
    private(set) var transportSecurity: [[UInt8]] = []
    private(set) var location: [UInt8] = []
    /// Of `Access-Control-Allow-Origin`; empty if it is not there.
    private(set) var allowedOrigin: [UInt8] = []
    private(set) var allowsCredentials = false
    private(set) var upgradesInsecure = false
    private(set) var cache = CacheDirectives()
    private(set) var hasEntityTag = false
    private(set) var hasLastModified = false
    private(set) var hasExpiry = false
    private(set) var isCoded = false
    private(set) var acceptsRanges = false
    private(set) var vary: [UInt8] = []

    init(_ head: RecordedHead) {
        for place in head.places.prefix(Self.countLimit) {
            let name = head.bytes[place.name]
            // Half of all fields are told apart by their length alone.
            guard Self.lengths.contains(name.count) else { continue }
            read(name, head, place)
        }
    }

    private mutating func read(
        _ name: ArraySlice<UInt8>, _ head: RecordedHead, _ place: RecordedHead.Place
    ) {
        var value: ArraySlice<UInt8> { head.value(place).prefix(RecordedHead.valueLimit) }
        switch name.lowercasedBytes.text {
        case "content-type": if type.isEmpty { type = Array(value) }
        case "set-cookie": cookies.append(Array(value))
        case "strict-transport-security": transportSecurity.append(Array(value))
        case "location": location = Array(value)
        case "access-control-allow-origin": allowedOrigin = Array(value)
        case "access-control-allow-credentials":
            allowsCredentials = value.equalsIgnoringCase("true")
        case "content-security-policy":
            let policy = value.lowercasedBytes
            upgradesInsecure =
                upgradesInsecure || policy.contains(run: Array("upgrade-insecure-requests".utf8))
        case "cache-control": cache.read(value)
        case "etag": hasEntityTag = true
        case "last-modified": hasLastModified = true
        case "expires": hasExpiry = true
        case "content-encoding": isCoded = !value.isEmpty && !value.equalsIgnoringCase("identity")
        case "accept-ranges": acceptsRanges = value.equalsIgnoringCase("bytes")
        case "vary": vary += (vary.isEmpty ? [] : [0x2C]) + value.lowercasedBytes
        default: break
        }
    }

    private static let lengths: Set<Int> = [4, 7, 8, 10, 12, 13, 16, 23, 25, 27, 32]
    private static let countLimit = 512
}
