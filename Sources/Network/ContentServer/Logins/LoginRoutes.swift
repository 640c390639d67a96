internal import Base
internal import HTTPModel
internal import HTTPServer

/// A login form with a session cookie, and Basic authentication: a name's password is the name.
enum LoginRoutes {
    static func routes(_ configuration: ContentServerConfiguration) -> [Route] {
        [
            .get("/login") { _ in ServerResponse(200, type: FileType.html, form) },
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
        let content: [UInt8]
        do {
            content = try await body.collect(byteLimit: formByteLimit)
        } catch {
            return .plain(error.code == "request-too-large" ? 413 : 400)
        }
        let items = FormItem.parse(content[...])
        guard let user = value("username", of: items), !user.isEmpty,
            value("password", of: items) == user
        else { return json(401, ["error": "wrong name or password"]) }
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
        if let credentials = request.fields.first(.authorization),
            credentials.prefix(6).equalsIgnoringCase("basic "),
            Base64.decode(credentials.dropFirst(6).trimmingWhitespace) == expected
        {
            return welcome(user)
        }
        var refusal = ServerResponse.plain(401)
        refusal.fields.append(
            ResponseField("WWW-Authenticate", "Basic realm=\"sallyport\", charset=\"UTF-8\""))
        return refusal
    }

    /// The cookie's value: it only has to be the same every time, not hard to forge.
    private static func session(
        of user: [UInt8], _ configuration: ContentServerConfiguration
    ) -> String {
        var state = GeneratedContent.mix(configuration.seed)
        for byte in user { state = GeneratedContent.mix(state ^ UInt64(byte)) }
        return "\(user.hex).\(String(state, radix: 16))"
    }

    private static func value(_ name: String, of items: [FormItem]) -> [UInt8]? {
        items.first { $0.name.elementsEqual(name.utf8) }?.value
    }

    private static func welcome(_ user: [UInt8]) -> ServerResponse {
        json(200, ["user": .bytes(user)])
    }

    /// Names and passwords are short.
    private static let formByteLimit = 65_536

    private static let form = """
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
