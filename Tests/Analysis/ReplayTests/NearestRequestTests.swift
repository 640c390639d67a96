import Testing

@testable import Replay

/// Requests that were changed a little: the one that they were made of has to be found.
struct NearestRequestTests {
    /// A request that can be changed in one part.
    struct Request {
        var method: String
        var authority: String
        var path: [String]
        var query: [(name: String, value: String)]
        var body: [(name: String, value: String)]

        var head: String {
            let query = query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
            let type = body.isEmpty ? "" : "content-type: application/json\n"
            return "\(method) /\(path.joined(separator: "/"))\(query.isEmpty ? "" : "?" + query)"
                + " HTTP/1.1\nhost: \(authority)\n\(type)\n"
        }

        var content: [UInt8] {
            guard !body.isEmpty else { return [] }
            let members = body.map { "\"\($0.name)\":\"\($0.value)\"" }.joined(separator: ",")
            return [UInt8]("{\(members)}".utf8)
        }
    }

    @Test func findsWhatWasChanged() throws {
        var random = SeededGenerator(seed: 5)
        let requests = Self.requests(&random)
        let source = MemorySource()
        for request in requests {
            source.add(request.head, request.content, to: request.authority)
        }
        let recording = try ReplayRecording(source, options: ReplayOptions(), digests: .forTests)
        var found = 0
        var missed: [String] = []
        for round in 0..<1000 {
            let index = Int.random(in: requests.indices, using: &random)
            let changed = Self.changed(requests[index], by: round, &random)
            let exchange = try recording.ask(changed.head, authority: changed.authority)
            if !changed.content.isEmpty { exchange.receive(changed.content.span) }
            exchange.noteEnd()
            guard case .miss(let miss) = exchange.next() else {
                missed.append("answered: \(changed.head)")
                continue
            }
            if miss.nearest?.exchange == Int64(index) + 1 {
                found += 1
                #expect(miss.nearest?.differences.isEmpty == false)
            } else {
                missed.append("\(changed.head) \(miss.detail)")
            }
        }
        #expect(found >= 950, "\(found) of 1000; \(missed.prefix(3))")
    }

    private static func requests(_ random: inout SeededGenerator) -> [Request] {
        let nouns = ["users", "orders", "items", "carts", "sessions", "reports", "images", "teams"]
        return (0..<200).map { number in
            let noun = nouns[number % nouns.count]
            let id = "\(Int.random(in: 10_000...99_999, using: &random))"
            let writes = number % 3 == 0
            return Request(
                method: writes ? "POST" : "GET",
                authority: number % 5 == 0 ? "cdn.example.com" : "api.example.com",
                path: ["v1", noun, id] + (number % 2 == 0 ? ["details"] : []),
                query: number % 4 == 1 ? [("page", "\(number)"), ("size", "20")] : [],
                body: writes
                    ? [("name", "n\(number)"), ("kind", noun), ("note", "x\(number * 7)")] : [])
        }
    }

    /// The request with one part changed, added or left out.
    private static func changed(
        _ request: Request, by round: Int, _ random: inout SeededGenerator
    ) -> Request {
        var changed = request
        switch round % 6 {
        case 0: changed.query.append(("nonce", "\(random.next() % 100_000)"))
        case 1: changed.path[changed.path.count - 1] += "x"
        case 2: changed.method = request.method == "GET" ? "PUT" : "PATCH"
        case 3 where !request.body.isEmpty:
            changed.body[Int.random(in: request.body.indices, using: &random)].value = "other"
        case 4 where !request.query.isEmpty: changed.query.removeLast()
        case 5: changed.authority = "staging.example.com"
        default: changed.path[0] = "v2"
        }
        return changed
    }
}

/// The same numbers each time (a linear congruential generator with a mixed output).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let mixed = (state ^ (state >> 29)) &* 0xBF58_476D_1CE4_E5B9
        return mixed ^ (mixed >> 32)
    }
}
