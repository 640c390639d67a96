internal import Base
internal import HTTPModel
internal import HTTPServer
internal import Synchronization

/// `/negotiate`: a login with Negotiate (RFC 4559), by Kerberos, with the keys that `KRB5_KTNAME`
/// names.
///
/// With `?binding=required` the client has to prove that it speaks TLS with this server itself
/// (RFC 5929), which it cannot behind a proxy that intercepts.
final class NegotiateRoutes: Sendable {
    /// Logins that are not over, by their connections.
    private let sessions = Mutex<[UInt64: NegotiateSession]>([:])

    var routes: [Route] {
        [.get("/negotiate", answer)]
    }

    private func answer(_ request: ServerRequest) -> ServerResponse {
        let number = request.connection.number
        guard let session = sessions.withLock({ $0.removeValue(forKey: number) }) ?? .init()
        else { return .words(501, "there is no Kerberos library (libgssapi_krb5) here") }
        guard let field = request.fields.first(.authorization),
            field.prefix(10).equalsIgnoringCase("negotiate ")
        else { return Self.challenge(nil, "no token") }
        guard let token = Base64.decode(field.dropFirst(10).trimmingWhitespace) else {
            return Self.challenge(nil, "the token is no Base64")
        }
        let digest = request.connection.security?.endPointDigest
        let isRequired = request.path.queryValue("binding")?.text == "required"
        switch session.accept(
            token, binding: digest.map { [UInt8]("tls-server-end-point:".utf8) + $0 })
        {
        case .refused(let reason): return Self.challenge(nil, reason)
        case .unfinished(let answer):
            keep(session, for: number)
            return Self.challenge(answer, "the login is not over")
        case .accepted(_, _, false, _) where isRequired:
            return Self.challenge(nil, "the token is not bound to this TLS connection")
        case .accepted(let principal, let answer, let isBound, let delegates):
            var response = json(
                200,
                [
                    "authenticated": true, "user": .string(principal),
                    "bound": .boolean(isBound), "delegated": .boolean(delegates),
                ])
            // The client checks the server by it.
            if !answer.isEmpty {
                response.fields.append(
                    ResponseField("WWW-Authenticate", "Negotiate \(Base64.encode(answer))"))
            }
            return response
        }
    }

    private func keep(_ session: NegotiateSession, for connection: UInt64) {
        sessions.withLock { sessions in
            // The oldest connection is the likeliest to have gone.
            if sessions.count >= Self.limit, let oldest = sessions.keys.min() {
                sessions[oldest] = nil
            }
            sessions[connection] = session
        }
    }

    private static func challenge(_ answer: [UInt8]?, _ reason: String) -> ServerResponse {
        let token = answer.map { " \(Base64.encode($0))" } ?? ""
        var response = json(401, ["authenticated": false, "error": .string(reason)])
        response.fields.append(ResponseField("WWW-Authenticate", "Negotiate\(token)"))
        return response
    }

    private static let limit = 256
}
