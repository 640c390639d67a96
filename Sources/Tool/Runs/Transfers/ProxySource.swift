package import Base
internal import Contents
internal import HTTPClient
internal import HTTPModel
internal import Negotiation
package import Origins
internal import Recording
package import Sockets
package import TLS
internal import Transfer

/// Where a client's proxies are named: the first of these that is there.
package struct ProxySource: Sendable {
    package var proxy: UpstreamProxy?
    /// The path of a configuration profile.
    package var profile: String?
    /// The path or the URL of a proxy script.
    package var script: String?
    /// What `proxy` and the profile's one are not used for, and which proxies there are without them.
    package var variables: [String: String] = [:]

    package init() {}

    /// Reads what they name. On the loop's executor only.
    ///
    /// Errors: `proxy-variable-invalid`, `proxy-script-invalid`, `profile-invalid`, `file-unreadable`,
    /// those of fetching a script.
    package func settings(on loop: EventLoop) async throws(Failure) -> ProxySettings {
        let exceptions = ProxyExceptions(variables["no_proxy"] ?? variables["NO_PROXY"] ?? "")
        if let proxy { return .fixed(proxy, except: exceptions) }
        if let named = try networkProfile()?.proxy {
            switch named {
            case .automatic(let url):
                guard Self.isURL(url) else {
                    throw Failure(
                        "profile-invalid", party: .client,
                        "the profile's proxy script is at no http or https URL")
                }
                return .script(try await Self.program(url, on: loop))
            case .manual(let host, let port, let user, let password):
                var proxy = UpstreamProxy(.http, host: host, port: port)
                proxy.credential = user.flatMap {
                    SOCKSCredential(user: $0, password: password ?? "")
                }
                return .fixed(proxy, except: exceptions)
            }
        }
        if let script { return .script(try await Self.program(script, on: loop)) }
        let environment = try ProxyEnvironment(variables)
        return environment.isEmpty ? .direct : .environment(environment)
    }

    /// Tells whether two programs take the same proxies from their variables; `nil` where an option
    /// names them. No secret can be read from it, but one that is guessed can be confirmed: it is for
    /// the same user's programs only.
    package var variablesDigest: String? {
        guard proxy == nil, profile == nil, script == nil else { return nil }
        let values = Self.variableNames.map { names in
            names.lazy.compactMap { variables[$0] }.first { !$0.isEmpty } ?? ""
        }
        // Without a proxy there are no exceptions.
        let counted = values.dropLast().allSatisfy(\.isEmpty) ? [] : values
        return Digests.sha256([UInt8](counted.joined(separator: "\n").utf8)).hex
    }

    /// The exceptions last.
    private static let variableNames = [
        ProxyEnvironment.httpNames, ProxyEnvironment.httpsNames, ProxyEnvironment.allNames,
        ProxyEnvironment.exceptionNames,
    ]

    /// The CAs that the profile lets be trusted.
    ///
    /// Errors: `profile-invalid`, `certificate-invalid`, `file-unreadable`.
    package func authorities() throws(Failure) -> [Certificate] {
        var result: [Certificate] = []
        for bytes in try networkProfile()?.authorities ?? [] {
            // A payload may have either form.
            guard bytes.first != Self.dash else {
                result += try Certificate.authorities(inPEM: bytes, name: "the profile")
                continue
            }
            guard let certificate = Certificate(der: bytes) else {
                throw Failure(
                    "certificate-invalid", party: .client,
                    "a certificate of the profile cannot be read")
            }
            result.append(certificate)
        }
        return result
    }

    private static let dash = UInt8(ascii: "-")

    private func networkProfile() throws(Failure) -> NetworkProfile? {
        try profile.map { path throws(Failure) in
            try NetworkProfile(try Files.readRegular(path, byteLimit: Self.profileLimit))
        }
    }

    private static func program(
        _ place: String, on loop: EventLoop
    ) async throws(Failure) -> ProxyScriptProgram {
        let bytes =
            isURL(place)
            ? try await fetch(place, on: loop)
            : try Files.readRegular(place, byteLimit: ProxyScriptProgram.byteLimit)
        do throws(ProxyScriptViolation) {
            return try ProxyScriptProgram(bytes)
        } catch {
            throw Failure(
                "proxy-script-invalid", party: .client,
                "cannot use the proxy script \(place): \(error.detail)",
                hint: "name the proxy itself; scripts are read without a JavaScript engine")
        }
    }

    /// Whether a script is fetched, and not read from the disk.
    package static func isURL(_ place: String) -> Bool {
        place.hasPrefix("http://") || place.hasPrefix("https://")
    }

    /// Fetches a script, of course not by a proxy.
    private static func fetch(_ url: String, on loop: EventLoop) async throws(Failure) -> [UInt8] {
        let location = try OriginLocation(url)
        let head = "GET \(location.path) HTTP/1.1\r\nHost: \(location.target.authority)\r\n"
        var request = ClientRequest(
            target: location.target, method: .get, isSafe: true,
            head: [UInt8]((head + "User-Agent: sallyport\r\nAccept: */*\r\n\r\n").utf8),
            content: .bytes([]), isChunked: false)
        let content = ScriptReception(until: loop.now + timeout, on: loop)
        request.reception = content
        var configuration = ClientConfiguration()
        configuration.readTimeout = timeout
        let client = HTTPClient(configuration, on: loop, recorder: TrafficRecorder(sink: nil))
        let result = await client.run { () async -> Result<ClientResponse, Failure> in
            do throws(Failure) {
                return .success(try await client.send(request))
            } catch {
                return .failure(error)
            }
        }
        let response = try result.get()
        guard response.head.status == 200 else {
            throw Failure(
                "proxy-script-unreadable", party: .origin,
                "\(url) answers with \(response.head.status)")
        }
        guard !response.isDeclined else {
            throw Failure(
                "proxy-script-unreadable", party: .origin, "\(url) is too long, or too slow")
        }
        return content.bytes
    }

    /// Takes a script that comes within its bound and in time.
    private final class ScriptReception: ClientReception {
        private let loop: EventLoop
        private let deadline: UInt64
        private(set) var bytes: [UInt8] = []

        init(until deadline: UInt64, on loop: EventLoop) {
            self.deadline = deadline
            self.loop = loop
        }

        func takeInterim(_ head: ResponseHead) {}

        func take(_ head: ResponseHead) -> Bool { true }

        func take(_ piece: Span<UInt8>) {
            for index in piece.indices where bytes.count <= ProxyScriptProgram.byteLimit {
                bytes.append(piece[index])
            }
        }

        func waitForRoom() async -> Bool {
            bytes.count <= ProxyScriptProgram.byteLimit && loop.now < deadline
        }
    }

    /// In milliseconds.
    private static let timeout: UInt64 = 10_000
    /// In bytes.
    private static let profileLimit = 1 << 20
}
