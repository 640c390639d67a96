import Base
import ContentServer
import Contents
import HTTPModel
import HTTPServer
import TLS
import Testing

struct PushRoutesTests {
    private let server = ContentServer(ContentServerConfiguration())
    private static let now: Int64 = 1_780_000_000

    private func control(
        _ method: String, _ path: String, _ form: String = "", at seconds: Int64 = now
    ) async throws -> (status: Int, text: String) {
        let response = await server.answer(
            try request(
                method, path, at: seconds, host: "localhost", from: "127.0.0.1"),
            RequestBody([UInt8](form.utf8)))
        return (response.status, try await response.content().text)
    }

    private func device(_ options: String = "") async throws -> String {
        let form = "device=phone&topic=com.example.news&format=text\(options)"
        let (status, text) = try await control("POST", "/push/devices", form)
        try #require(status == 201)
        return String(text.dropLast())
    }

    private func bearer(issuedAt: Int64 = now) async throws -> String {
        "bearer " + (try await control("GET", "/push/token?iat=\(issuedAt)").text.dropLast())
    }

    private func push(
        _ path: String, _ fields: [(String, String)], _ payload: String = "{\"aps\":{}}",
        method: String = "POST", at seconds: Int64 = now, connection: UInt64 = 1,
        host: String = "api.push.test", version: HTTPVersion = .http2
    ) async throws -> (ServerResponse, text: String) {
        let response = await server.answer(
            try request(
                method, path, fields, at: seconds, host: host, version: version,
                connection: connection), RequestBody([UInt8](payload.utf8)))
        return (response, try await response.content().text)
    }

    /// What stands in a row in the place of the device's own token and of a valid authorization.
    private static let good = [("apns-topic", "com.example.news")]

    private static let rows: [(fields: [(String, String)], reason: PushReason?)] = [
        ([], nil),
        ([("apns-id", "123E4567-E89B-12D3-A456-4266554400A0")], nil),
        ([("apns-id", "123E4567-E89B-12D3-A456-4266554400AG")], .badMessageId),
        ([("apns-id", "1")], .badMessageId),
        ([("apns-priority", "5")], nil), ([("apns-priority", "1")], nil),
        ([("apns-priority", "7")], .badPriority), ([("apns-priority", "high")], .badPriority),
        ([("apns-push-type", "background"), ("apns-priority", "5")], nil),
        ([("apns-push-type", "background")], nil),
        ([("apns-push-type", "background"), ("apns-priority", "10")], .badPriority),
        ([("apns-push-type", "banner")], .invalidPushType),
        ([("apns-push-type", "voip")], .badTopic),
        ([("apns-expiration", "0")], nil), ([("apns-expiration", "soon")], .badExpirationDate),
        ([("apns-expiration", "99999999999999999999")], .badExpirationDate),
        ([("apns-collapse-id", String(repeating: "x", count: 64))], nil),
        ([("apns-collapse-id", String(repeating: "x", count: 65))], .badCollapseId),
        ([("apns-topic", "com.example.news")], .duplicateHeaders),
        ([("authorization", "bearer x")], .duplicateHeaders),
    ]

    @Test(arguments: rows.indices)
    func judgesFields(_ index: Int) async throws {
        let (fields, reason) = Self.rows[index]
        let token = try await device()
        let (response, text) = try await push(
            "/3/device/\(token)",
            Self.good + [("authorization", try await bearer())] + fields)
        #expect(response.status == reason?.status ?? 200)
        #expect(text == (reason.map { "{\"reason\":\"\($0.rawValue)\"}" } ?? ""))
        let given = fields.first { $0.0 == "apns-id" }?.1
        let id = try #require(response.first("apns-id"))
        #expect(reason == .badMessageId || given == nil || id == given)
        #expect(id.utf8.count == 36)
    }

    @Test(
        arguments: [
            ("/3/device/TOKEN", "com.example.news", "{}", nil),
            (
                "/3/device/" + String(repeating: "0", count: 64), "com.example.news", "{}",
                .badDeviceToken
            ),
            ("/3/device/xyz", "com.example.news", "{}", .badDeviceToken),
            ("/3/device/TOKEN", "com.example.other", "{}", .deviceTokenNotForTopic),
            ("/3/device/TOKEN", "com example", "{}", .badTopic),
            ("/3/device/TOKEN", "", "{}", .missingTopic),
            ("/3/device/TOKEN", "com.example.news", "", .payloadEmpty),
            ("/3/device/TOKEN", "com.example.news", String(repeating: "x", count: 4096), nil),
            (
                "/3/device/TOKEN", "com.example.news", String(repeating: "x", count: 4097),
                .payloadTooLarge
            ),
            ("/3/device", "com.example.news", "{}", .missingDeviceToken),
            ("/3/device/", "com.example.news", "{}", .missingDeviceToken),
            ("/3/devices/TOKEN", "com.example.news", "{}", .badPath),
            ("/3/device/TOKEN/more", "com.example.news", "{}", .badPath),
        ] as [(String, String, String, PushReason?)])
    func judgesPlaces(
        _ path: String, _ topic: String, _ payload: String, _ reason: PushReason?
    ) async throws {
        let token = try await device()
        let (response, text) = try await push(
            path.split(separator: "TOKEN", omittingEmptySubsequences: false)
                .joined(separator: token),
            [("authorization", try await bearer())]
                + (topic.isEmpty ? [] : [("apns-topic", topic)]),
            payload)
        #expect(response.status == reason?.status ?? 200)
        #expect(text == (reason.map { "{\"reason\":\"\($0.rawValue)\"}" } ?? ""))
    }

    @Test func takesCallsOfOneKilobyteMore() async throws {
        let token = try await device()
        for (count, status) in [(5120, 200), (5121, 413)] {
            let (response, _) = try await push(
                "/3/device/\(token)",
                [
                    ("authorization", try await bearer()), ("apns-push-type", "voip"),
                    ("apns-topic", "com.example.news.voip"),
                ], String(repeating: "x", count: count), connection: UInt64(count))
            #expect(response.status == status)
        }
    }

    @Test func answersOtherMethodsAndVersions() async throws {
        let path = "/3/device/\(try await device())"
        let (wrong, text) = try await push(path, Self.good, method: "GET")
        #expect(wrong.status == 405)
        #expect(text == "{\"reason\":\"MethodNotAllowed\"}")
        #expect(try await push(path, Self.good, version: .http11).0.status == 505)
    }

    // MARK: Providers

    @Test(
        arguments: [
            (nil, .missingProviderToken), ("bearer x.y.z", .invalidProviderToken),
            ("basic eDp5", .invalidProviderToken), ("IAT 0", nil), ("IAT 3600", nil),
            ("IAT 3601", .expiredProviderToken), ("IAT -60", nil),
            ("IAT -61", .invalidProviderToken), ("FORGED", .invalidProviderToken),
        ] as [(String?, PushReason?)])
    func judgesProviderTokens(_ kind: String?, _ reason: PushReason?) async throws {
        let path = "/3/device/\(try await device())"
        var field = kind
        if let kind, kind.hasPrefix("IAT ") {
            field = try await bearer(issuedAt: Self.now - (Int64(kind.dropFirst(4)) ?? 0))
        } else if kind == "FORGED" {
            let parts = try await bearer().split(separator: ".")
            let other = try await bearer(issuedAt: Self.now - 5).split(separator: ".")
            field = "\(parts[0]).\(other[1]).\(parts[2])"
        }
        let (response, text) = try await push(
            path, Self.good + (field.map { [("authorization", $0)] } ?? []))
        #expect(response.status == reason?.status ?? 200)
        #expect(text == (reason.map { "{\"reason\":\"\($0.rawValue)\"}" } ?? ""))
    }

    /// A provider that makes a token for every message is told so, and has lost its connection for
    /// twenty minutes; another connection works.
    @Test func refusesATokenForEachMessage() async throws {
        let path = "/3/device/\(try await device())"
        func status(_ field: String, at seconds: Int64, connection: UInt64 = 1) async throws -> Int
        {
            try await push(
                path, Self.good + [("authorization", field)], at: seconds, connection: connection
            ).0.status
        }
        let first = try await bearer()
        let second = try await bearer(issuedAt: Self.now + 1)
        #expect(try await status(first, at: Self.now) == 200)
        #expect(try await status(first, at: Self.now + 600) == 200)
        #expect(try await status(second, at: Self.now + 1199) == 429)
        #expect(try await status(first, at: Self.now + 1199) == 429)
        #expect(try await status(first, at: Self.now + 1199, connection: 2) == 200)
        #expect(try await status(second, at: Self.now + 1200) == 200)
    }

    @Test func keepsToOneTeamAndKeyAConnection() async throws {
        let path = "/3/device/\(try await device())"
        let key = PrivateKey.p256()
        let public1 = try #require(Self.publicPEM(key))
        for query in ["OTHERKEY01?team=SALLYTEAM1", "OTHERTEAM1?team=TEAM2"] {
            #expect(try await control("PUT", "/push/keys/\(query)", public1).status == 204)
        }
        #expect(
            try await control(
                "PUT", "/push/keys/SCOPED?team=T&topics=com.example.other", public1
            ).status == 204)
        #expect(
            try await control(
                "PUT", "/push/keys/SANDBOX?team=T&environment=sandbox", public1
            ).status == 204)
        #expect(try await control("PUT", "/push/keys/BAD?team=T", "no key").status == 400)
        func reason(_ id: String, _ team: String, _ connection: UInt64, host: String = "a.test")
            async throws -> String
        {
            try await push(
                path, Self.good + [("authorization", Self.bearer(id, team, key))],
                connection: connection, host: host
            ).text
        }
        _ = try await push(path, Self.good + [("authorization", try await bearer())])
        #expect(try await reason("OTHERKEY01", "SALLYTEAM1", 1).contains("UnrelatedKeyIdInToken"))
        #expect(try await reason("OTHERTEAM1", "TEAM2", 1).contains("InvalidProviderToken"))
        #expect(try await reason("OTHERTEAM1", "TEAM2", 2) == "")
        #expect(try await reason("OTHERTEAM1", "TEAM3", 3).contains("InvalidProviderToken"))
        #expect(try await reason("NOBODY", "TEAM2", 4).contains("InvalidProviderToken"))
        #expect(try await reason("SCOPED", "T", 5).contains("TopicDisallowed"))
        #expect(try await reason("SANDBOX", "T", 6).contains("BadEnvironmentKeyIdInToken"))
        #expect(try await reason("SANDBOX", "T", 7, host: "api.sandbox.push.test") == "")
    }

    private static func publicPEM(_ key: PrivateKey) -> String? {
        PublicKey(of: key).pem.text
    }

    /// As a library makes it whose `iat` is a text.
    private static func bearer(_ id: String, _ team: String, _ key: PrivateKey) -> String {
        func coded(_ text: String) -> String {
            Base64.encode([UInt8](text.utf8)).filter { $0 != "=" }
        }
        let signed =
            coded("{\"alg\":\"ES256\",\"kid\":\"\(id)\",\"typ\":\"JWT\"}") + "."
            + coded("{\"iss\":\"\(team)\",\"iat\":\"\(now)\",\"kid\":\"\(id)\"}")
        let signature = key.es256(of: [UInt8](signed.utf8)) ?? []
        return "bearer \(signed).\(Base64.encode(signature))"
    }

    // MARK: Devices

    @Test func tellsSinceWhenADeviceIsGone() async throws {
        let first = try await device()
        #expect(try await device() == first)
        #expect(
            try await control("DELETE", "/push/devices/\(first)?at=1700000000").status == 204)
        #expect(try await control("DELETE", "/push/devices/\(first)").status == 404)
        let fields = Self.good + [("authorization", try await bearer())]
        let (response, text) = try await push("/3/device/\(first)", fields)
        #expect(response.status == 410)
        #expect(text == "{\"reason\":\"Unregistered\",\"timestamp\":1700000000000}")
        // Another installation has another token; and so has one that is rotated.
        let second = try await device()
        #expect(second != first)
        let third = try await device("&rotate=1")
        #expect(third != second)
        #expect(try await push("/3/device/\(second)", fields).text.contains("\"timestamp\""))
        #expect(try await push("/3/device/\(third)", fields).0.status == 200)
        #expect(
            try await control("DELETE", "/push/devices/\(third)?reason=ExpiredToken").status == 204)
        #expect(try await push("/3/device/\(third)", fields).text.contains("ExpiredToken"))
    }

    @Test(arguments: PushReason.allCases)
    func answersAsOrdered(_ reason: PushReason) async throws {
        let path = "/3/device/\(try await device())"
        let order = try await control("POST", "/push/answers", "reason=\(reason.rawValue)&count=2")
        #expect(order.status == 204)
        let fields = Self.good + [("authorization", try await bearer())]
        for _ in 0..<2 {
            let (response, text) = try await push(path, fields)
            #expect(response.status == reason.status)
            #expect(text == "{\"reason\":\"\(reason.rawValue)\"}")
            let isOver = reason == .shutdown || reason == .idleTimeout
            #expect(response.delivery?.goAway?.detail == (isOver ? [UInt8](text.utf8) : nil))
        }
        #expect(try await push(path, fields).0.status == 200)
    }

    /// The clock is the request's: two silent pushes go through, and half an hour later one more.
    @Test func listsWhatArrived() async throws {
        let token = try await device()
        let fields = [
            ("apns-topic", "com.example.news"), ("apns-push-type", "background"),
            ("authorization", try await bearer()),
        ]
        for _ in 0..<2 { _ = try await push("/3/device/\(token)", fields) }
        let list = try await control("GET", "/push/notifications?token=\(token)").text
        // Nobody listens: the second took the place of the first.
        #expect(list.split(separator: "\"fate\":\"replaced\"").count == 2)
        #expect(list.split(separator: "\"fate\":\"stored\"").count == 2)
        #expect(!list.contains("authorization"))
        _ = try await control("POST", "/.sallyport/reset")
        #expect(try await control("GET", "/push/notifications").text.contains("[]"))
        #expect(try await control("GET", "/push/devices").text.contains("[]"))
    }

    /// Nobody else may look, register or order.
    @Test(arguments: [
        ("GET", "/push/devices"), ("POST", "/push/devices"), ("GET", "/push/key"),
        ("GET", "/push/token"), ("PUT", "/push/keys/A?team=B"), ("POST", "/push/answers"),
        ("GET", "/push/notifications"), ("GET", "/push/devices/0/events"),
        ("DELETE", "/push/devices/0"),
    ])
    func answersThisMachineAlone(_ method: String, _ path: String) async throws {
        for (peer, host) in [("192.0.2.1", "localhost"), ("127.0.0.1", "evil.example")] {
            let response = await server.answer(
                try request(method, path, host: host, from: peer), RequestBody([]))
            #expect(response.status == 403)
        }
    }

    @Test(arguments: [
        "", "device=phone", "device=a&topic=b c", "device=a&topic=b&burst=x",
        "device=a&topic=b&mode=other", "device=a&topic=b&environment=moon",
    ])
    func refusesRegistrations(_ form: String) async throws {
        #expect(try await control("POST", "/push/devices", form).status == 400)
    }
}
