internal import Base
internal import HTTPModel
internal import HTTPServer

/// Logins whose names and passwords stand in the path.
enum HttpbinLoginRoutes {
    static func routes(_ configuration: ContentServerConfiguration) -> [HttpbinRoute] {
        let digest: Answer = { request, body in
            var login = DigestLogin(
                user: request.match["user"], password: request.match["password"],
                seed: configuration.seed)
            let algorithm = request.match["algorithm"]
            guard algorithm.isEmpty || login.take(algorithm: algorithm) else {
                return .plain(400)
            }
            // Any other word means both in httpbin; the simpler one does.
            if request.match["qop"].elementsEqual("auth-int".utf8) {
                login.protection = .integrity
            }
            login.usesLimit = decimal(request.match["uses"])
            return await DigestLoginRoutes.answer(login, request, body, configuration)
        }
        let path = "/digest-auth/:qop/:user/:password"
        return [
            .get("/basic-auth/:user/:password") { basic($0) ?? challenge() },
            .get("/hidden-basic-auth/:user/:password") { basic($0) ?? .plain(404) },
            HttpbinRoute([.get], path, answer: digest),
            HttpbinRoute([.get], path + "/:algorithm", answer: digest),
            HttpbinRoute([.get], path + "/:algorithm/:uses", answer: digest),
            .get("/bearer", bearer),
        ]
    }

    private static func basic(_ request: ServerRequest) -> ServerResponse? {
        let user = request.match["user"]
        let expected = user + [UInt8(ascii: ":")] + request.match["password"]
        return LoginRoutes.basicCredentials(request) == expected ? welcome(user) : nil
    }

    private static func challenge() -> ServerResponse {
        ServerResponse(
            401, [ResponseField("WWW-Authenticate", "Basic realm=\"Fake Realm\"")])
    }

    private static func bearer(_ request: ServerRequest) -> ServerResponse {
        guard let field = request.fields.first(.authorization), field.starts(with: "Bearer ".utf8)
        else { return ServerResponse(401, [ResponseField("WWW-Authenticate", "Bearer")]) }
        return json(
            200, ["authenticated": true, "token": .bytes([UInt8](field.dropFirst(7)))])
    }
}
