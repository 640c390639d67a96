import Base
import ContentServer
import Contents
import HTTPServer
import Testing

struct TokenRoutesTests {
    private let server = ContentServer(ContentServerConfiguration())

    private func token(_ form: String, query: String = "", now: Int = 1000) async throws -> (
        status: Int, text: (StaticString) -> String?
    ) {
        let response = await server.answer(
            try request("POST", "/oauth/token\(query)", [("X-Sallyport-Now", "\(now)")]),
            RequestBody([UInt8](form.utf8)))
        let document = JSONDocument(try await response.content())
        return (
            response.status,
            { name in
                guard let document,
                    let place = document.member(name, of: JSONDocument.root)
                else { return nil }
                return document.spelling(of: place).filter { $0 != UInt8(ascii: "\"") }.text
            }
        )
    }

    private func use(
        _ token: String?, _ method: String = "GET", now: Int = 1000
    ) async throws -> (status: Int, challenge: String?) {
        let fields = token.map { [("Authorization", "Bearer \($0)")] } ?? []
        let response = await server.answer(
            try request(method, "/oauth/resource", fields + [("X-Sallyport-Now", "\(now)")]),
            RequestBody([]))
        return (response.status, response.first("WWW-Authenticate"))
    }

    private static let login = "grant_type=password&username=alice&password=alice"

    @Test(
        arguments: [
            (login, "", 200, nil), (login + "&scope=read", "", 200, nil),
            (login, "?expires=10&uses=3", 200, nil),
            ("grant_type=password&username=alice&password=bob", "", 400, "invalid_grant"),
            ("grant_type=password&username=&password=", "", 400, "invalid_grant"),
            (login + "&scope=admin", "", 400, "invalid_request"),
            (login, "?expires=99999999", 400, "invalid_request"),
            ("grant_type=refresh_token&refresh_token=made.up", "", 400, "invalid_grant"),
            ("grant_type=other", "", 400, "unsupported_grant_type"),
            ("", "", 400, "unsupported_grant_type"),
        ] as [(String, String, Int, String?)])
    func issues(_ form: String, _ query: String, _ status: Int, _ error: String?) async throws {
        let answer = try await token(form, query: query)
        #expect(answer.status == status)
        #expect(answer.text("error") == error)
        #expect((answer.text("access_token") != nil) == (status == 200))
    }

    @Test func expiresAndIsRefreshed() async throws {
        let first = try await token(Self.login, query: "?expires=10")
        let access = first.text("access_token")
        #expect(try await use(access, now: 1009).status == 200)
        let late = try await use(access, now: 1010)
        #expect(late.status == 401)
        #expect(late.challenge?.contains("error=\"invalid_token\"") == true)
        let refresh = try #require(first.text("refresh_token"))
        #expect(try await use(refresh).status == 401)
        let form = "grant_type=refresh_token&refresh_token=\(refresh)"
        let second = try await token(form, query: "?expires=10", now: 1010)
        #expect(try await use(second.text("access_token"), now: 1015).status == 200)
        #expect(try await token(form, now: 1000 + 31 * 86_400).status == 400)
    }

    /// In the middle of a queue of requests: the client has to ask for another token and go on.
    @Test func isUsedUp() async throws {
        let access = try await token(Self.login, query: "?uses=3").text("access_token")
        for status in [200, 200, 200, 401, 401] {
            #expect(try await use(access).status == status)
        }
        let other = try await token(Self.login, query: "?uses=3").text("access_token")
        #expect(other != access)
        #expect(try await use(other).status == 200)
    }

    /// What a device may use while it is locked: it reads, and not for long.
    @Test func derivesALesserToken() async throws {
        let main = try #require(try await token(Self.login).text("access_token"))
        let exchange = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange"
        let derived = try await token("\(exchange)&subject_token=\(main)", query: "?expires=604800")
        let access = try #require(derived.text("access_token"))
        #expect(derived.text("refresh_token") == nil)
        #expect(try await use(access).status == 200)
        let writing = try await use(access, "PUT")
        #expect(writing.status == 403)
        #expect(writing.challenge?.contains("insufficient_scope") == true)
        #expect(try await use(main, "PUT").status == 200)
        #expect(try await use(access, now: 1000 + 604_800).status == 401)
        let wider = "\(exchange)&subject_token=\(access)&scope=read+write"
        #expect(try await token(wider).text("error") == "invalid_scope")
        let longer = try await token("\(exchange)&subject_token=\(main)", query: "?expires=604801")
        #expect(longer.status == 400)
    }

    @Test(arguments: ["", ".", "access.61.read.99999.0.1.00", "a.b.c.d.e.f.g"])
    func refusesForgeries(_ token: String) async throws {
        #expect(try await use(token).status == 401)
    }

    @Test func refusesAChangedToken() async throws {
        let access = try #require(try await token(Self.login + "&scope=read").text("access_token"))
        let widened = access.split(separator: ".").enumerated().map {
            $0.offset == 2 ? "read-write" : String($0.element)
        }.joined(separator: ".")
        #expect(try await use(widened).status == 401)
        let nothing = try await use(nil)
        #expect(nothing.status == 401)
        #expect(nothing.challenge == "Bearer realm=\"sallyport\"")
    }
}
