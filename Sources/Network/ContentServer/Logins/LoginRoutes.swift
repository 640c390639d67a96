internal import Base
internal import HTTPModel
internal import HTTPServer

/// A login form with a session cookie, and Basic authentication: a name's password is the name.
enum LoginRoutes {
    static func routes(_ configuration: ContentServerConfiguration) -> [Route] {
        [
            .get("/login") { _ in ServerResponse(200, type: FileType.html, page) },
            Route([.post], "/login") { request, body in
                await login(request, body, configuration)
            },
            .get("/account") { account($0, configuration) },
            .get("/basic/:user", basic),
        ]
    }

    private static func login(
        _ request: ServerRequest, _ body: RequestBody, _ configuration: ContentServerConfiguration
    ) async -> ServerResponse {
        let form: CollectedForm
        do throws(Failure) {
            form = try await CollectedForm(body)
        } catch {
            return .unreadable(error)
        }
        guard let user = form["username"], !user.isEmpty, form["password"] == user else {
            return json(401, ["error": "wrong name or password"])
        }
        var response = welcome(user)
        let isSecure = request.scheme == .https ? "; Secure" : ""
        response.fields.append(
            ResponseField(
                "Set-Cookie",
                "session=\(session(of: user, configuration)); Path=/; HttpOnly; SameSite=Lax"
                    + isSecure))
        return response
    }

    private static func account(
        _ request: ServerRequest, _ configuration: ContentServerConfiguration
    ) -> ServerResponse {
        for line in request.fields.all(.cookie) {
            for cookie in line.split(separator: UInt8(ascii: ";")) {
                let pair = cookie.trimmingWhitespace
                guard pair.starts(with: "session=".utf8) else { continue }
                let token = pair.dropFirst("session=".utf8.count)
                let name = token.prefix { $0 != UInt8(ascii: ".") }
                if let user = bytes(fromHex: name.text),
                    token.elementsEqual(session(of: user, configuration).utf8)
                {
                    return welcome(user)
                }
            }
        }
        return json(401, ["error": "not logged in"])
    }

    private static func basic(_ request: ServerRequest) -> ServerResponse {
        let user = request.match["user"]
        let expected = user + [UInt8(ascii: ":")] + user
        if basicCredentials(request) == expected { return welcome(user) }
        var refusal = ServerResponse.plain(401)
        refusal.fields.append(
            ResponseField("WWW-Authenticate", "Basic realm=\"sallyport\", charset=\"UTF-8\""))
        return refusal
    }

    /// Name and password with the colon between them (RFC 7617); `nil` without them.
    static func basicCredentials(_ request: ServerRequest) -> [UInt8]? {
        guard let credentials = request.fields.first(.authorization),
            credentials.prefix(6).equalsIgnoringCase("basic ")
        else { return nil }
        return Base64.decode(credentials.dropFirst(6).trimmingWhitespace)
    }

    /// The cookie's value: it only has to be the same every time, not hard to forge.
    private static func session(
        of user: [UInt8], _ configuration: ContentServerConfiguration
    ) -> String {
        var state = SplitMix.mix(configuration.seed)
        for byte in user { state = SplitMix.mix(state ^ UInt64(byte)) }
        return "\(user.hex).\(String(state, radix: 16))"
    }

    private static let page = """
        <!doctype html>
        <html lang="en">
        <meta charset="utf-8">
        <title>Log in</title>
        <link rel="icon" href="data:,">
        <form method="post" action="/login">
        <p><label>Name <input name="username" autocomplete="username"></label>
        <p><label>Password
        <input name="password" type="password" autocomplete="current-password"></label>
        <p><button>Log in</button>
        </form>
        </html>

        """
}
