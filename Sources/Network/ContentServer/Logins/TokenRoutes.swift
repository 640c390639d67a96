internal import Base
internal import HTTPModel
internal import HTTPServer
internal import Synchronization

/// `/oauth/token` and `/oauth/resource`: bearer tokens that expire by time or after so many
/// requests, are refreshed, and are narrowed (RFC 6749, RFC 6750, RFC 8693).
///
/// Time is the request's own if it says `X-Sallyport-Now: <seconds since 1970>`, so that a test
/// lets tokens expire without waiting.
final class TokenRoutes: Sendable {
    private struct Issued {
        var serial: UInt64 = 0
        /// How often tokens were used that are good for so many requests, by their serials.
        var uses: [UInt64: UInt64] = [:]
    }

    private let seed: UInt64
    private let issued = Mutex(Issued())

    init(_ configuration: ContentServerConfiguration) {
        seed = configuration.seed
    }

    var routes: [Route] {
        [
            Route([.post], "/oauth/token") { request, body in
                do throws(Failure) {
                    return self.token(request, try await CollectedForm(body))
                } catch {
                    return .unreadable(error)
                }
            },
            Route([.get, .put, .post, .patch, .delete], "/oauth/resource") { request, _ in
                self.resource(request)
            },
        ]
    }

    // MARK: Issuing

    private func token(_ request: ServerRequest, _ form: CollectedForm) -> ServerResponse {
        let lifetime = decimal(request.path.queryValue("expires") ?? []) ?? 3600
        let uses = decimal(request.path.queryValue("uses") ?? []) ?? 0
        let scope = form["scope"]?.text ?? "read write"
        guard lifetime <= UInt64(Self.longestLifetime), Self.isScope(scope) else {
            return json(400, ["error": "invalid_request"])
        }
        let now = request.seconds
        let expiry = now + Int64(lifetime)
        switch form["grant_type"]?.text {
        case "password":
            guard let user = form["username"], Self.isUser(user), form["password"] == user else {
                return json(400, ["error": "invalid_grant"])
            }
            return issue(user, scope, expiry, uses, now, isRefreshable: true)
        case "refresh_token":
            guard
                let old = form["refresh_token"].flatMap({ AccessToken($0, seed: seed) }),
                old.kind == .refresh, old.expiry > now
            else { return json(400, ["error": "invalid_grant"]) }
            return issue(old.user, old.scope, expiry, uses, now, isRefreshable: true)
        case "urn:ietf:params:oauth:grant-type:token-exchange":
            guard let subject = form["subject_token"].flatMap({ AccessToken($0, seed: seed) }),
                subject.kind == .access, subject.expiry > now
            else { return json(400, ["error": "invalid_grant"]) }
            let narrowed = form["scope"]?.text ?? "read"
            guard narrowed.split(separator: " ").allSatisfy({ subject.permits(String($0)) }),
                lifetime <= UInt64(Self.derivedLifetime)
            else { return json(400, ["error": "invalid_scope"]) }
            return issue(subject.user, narrowed, expiry, uses, now, isRefreshable: false)
        default: return json(400, ["error": "unsupported_grant_type"])
        }
    }

    private func issue(
        _ user: [UInt8], _ scope: String, _ expiry: Int64, _ uses: UInt64, _ now: Int64,
        isRefreshable: Bool
    ) -> ServerResponse {
        let serial = issued.withLock { issued in
            issued.serial += 1
            return issued.serial
        }
        var token = AccessToken(
            user: user, scope: scope, expiry: expiry, uses: uses, serial: serial)
        var members = [
            JSONText.Member("access_token", .string(token.text(seed: seed))),
            JSONText.Member("token_type", "Bearer"),
            JSONText.Member("expires_in", .integer(expiry - now)),
            JSONText.Member("scope", .string(scope)),
        ]
        if isRefreshable {
            (token.kind, token.uses, token.expiry) = (.refresh, 0, now + Self.longestLifetime)
            members.append(JSONText.Member("refresh_token", .string(token.text(seed: seed))))
        }
        return json(200, .object(members))
    }

    // MARK: Using

    private func resource(_ request: ServerRequest) -> ServerResponse {
        guard let field = request.fields.first(.authorization),
            field.prefix(7).equalsIgnoringCase("bearer ")
        else { return Self.refused(401, nil) }
        let text = [UInt8](field.dropFirst(7).trimmingWhitespace)
        guard let token = AccessToken(text, seed: seed), token.kind == .access,
            token.expiry > request.seconds, isUsable(token)
        else { return Self.refused(401, "invalid_token") }
        let word = request.method.isRetrieval ? "read" : "write"
        guard token.permits(word) else { return Self.refused(403, "insufficient_scope", word) }
        return json(200, ["user": .bytes(token.user), "scope": .string(token.scope)])
    }

    /// Counts a use of a token that is good for so many.
    private func isUsable(_ token: AccessToken) -> Bool {
        guard token.uses > 0 else { return true }
        return issued.withLock { issued in
            let used = issued.uses[token.serial] ?? 0
            guard used < token.uses else { return false }
            // Who issues more than this at once finds older ones good for longer.
            if used == 0, issued.uses.count >= Self.countLimit { issued.uses.removeAll() }
            issued.uses[token.serial] = used + 1
            return true
        }
    }

    private static func refused(
        _ status: Int, _ error: String?, _ scope: String? = nil
    ) -> ServerResponse {
        var response = json(status, ["error": .string(error ?? "no_token")])
        let reason = error.map { ", error=\"\($0)\"" } ?? ""
        let needed = scope.map { ", scope=\"\($0)\"" } ?? ""
        response.fields.append(
            ResponseField("WWW-Authenticate", "Bearer realm=\"sallyport\"\(reason)\(needed)"))
        return response
    }

    private static func isScope(_ scope: String) -> Bool {
        !scope.isEmpty && scope.split(separator: " ").allSatisfy { ["read", "write"].contains($0) }
    }

    private static func isUser(_ user: [UInt8]) -> Bool { !user.isEmpty && user.count <= 100 }

    /// In seconds: 30 days.
    private static let longestLifetime: Int64 = 30 * 86_400
    /// Of a narrowed token, in seconds: a week.
    private static let derivedLifetime: Int64 = 7 * 86_400
    private static let countLimit = 4096
}
