internal import Base
internal import HTTPServer

/// `/digest/<user>`: Digest authentication as `<user>`, whose password is the name.
enum DigestLoginRoutes {
    static func routes(_ configuration: ContentServerConfiguration) -> [Route] {
        [
            Route([.get, .post, .put], "/digest/:user") { request, body in
                let user = request.match["user"]
                guard var login = login(user, password: user, request, configuration) else {
                    return .plain(400)
                }
                if let uses = request.path.queryValue("uses") {
                    guard let limit = decimal(uses) else { return .plain(400) }
                    login.usesLimit = limit
                }
                return await answer(login, request, body, configuration)
            }
        ]
    }

    /// By `?algorithm=` and `?qop=`; `nil` if one of them is unknown.
    private static func login(
        _ user: [UInt8], password: [UInt8], _ request: ServerRequest,
        _ configuration: ContentServerConfiguration
    ) -> DigestLogin? {
        var login = DigestLogin(user: user, password: password, seed: configuration.seed)
        let algorithm = request.path.queryValue("algorithm") ?? [UInt8]("md5".utf8)
        guard login.take(algorithm: algorithm),
            let protection = DigestLogin.Protection(
                rawValue: (request.path.queryValue("qop") ?? [UInt8]("auth".utf8)).text)
        else { return nil }
        login.protection = protection
        return login
    }

    /// Answers as the login demands; content is read only if it is signed.
    static func answer(
        _ login: DigestLogin, _ request: ServerRequest, _ body: RequestBody,
        _ configuration: ContentServerConfiguration
    ) async -> ServerResponse {
        var content: [UInt8] = []
        if login.protection == .integrity {
            do throws(Failure) {
                content = try await body.collect(byteLimit: configuration.bodyByteLimit)
            } catch {
                return .unreadable(error)
            }
        }
        switch login.judge(request, content: content) {
        case .otherTarget: return .plain(400)
        case .refused(let challenge):
            var refusal = ServerResponse.plain(401)
            refusal.fields.append(ResponseField("WWW-Authenticate", challenge))
            return refusal
        case .accepted(let proof):
            var response = welcome(login.user)
            if !proof.isEmpty {
                response.fields.append(ResponseField("Authentication-Info", proof))
            }
            return response
        }
    }
}

extension DigestLogin {
    /// Reads `MD5`, `SHA-256`, `SHA-512` and each with `-sess`, in any case; `false` for others.
    mutating func take(algorithm name: [UInt8]) -> Bool {
        switch name.map(\.asciiLowercased).text {
        case "md5": (algorithm, isSession) = (.md5, false)
        case "md5-sess": (algorithm, isSession) = (.md5, true)
        case "sha-256": (algorithm, isSession) = (.sha256, false)
        case "sha-256-sess": (algorithm, isSession) = (.sha256, true)
        // Not registered; httpbin has it, and so have its clients.
        case "sha-512": (algorithm, isSession) = (.sha512, false)
        case "sha-512-sess": (algorithm, isSession) = (.sha512, true)
        default: return false
        }
        return true
    }
}

/// What who is let in is told.
func welcome(_ user: [UInt8]) -> ServerResponse {
    json(200, ["authenticated": true, "user": .bytes(user)])
}
