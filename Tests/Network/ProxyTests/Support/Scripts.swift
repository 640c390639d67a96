import Base
import Glibc
import Sockets
import TLS
import Testing

@testable import Proxy

/// For the scripts of origins, whose threads belong to no test: what fails is told by the origin.
func check(_ isTrue: Bool, _ what: @autoclosure () -> String) throws {
    if !isTrue { throw WireFailure(what()) }
}

extension ProxyUnderTest {
    /// An origin that answers every request with the same text.
    func greeter(
        _ kind: ScriptedOrigin.Kind = .plain, on host: String = "127.0.0.1", text: String = "hello"
    ) throws -> ScriptedOrigin {
        try origin(kind, on: host) { wire, _ in try wire.greet(text) }
    }
}

extension Wire {
    /// Answers every request with the same text, until the client has gone.
    func greet(_ text: String = "hello") throws {
        while let head = try readHeadOrEnd() {
            _ = head
            try send("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
        }
    }

    /// The next head, `nil` if the peer ends before its first byte.
    func readHeadOrEnd() throws -> String? {
        guard try hasMore() else { return nil }
        return try readHead()
    }

    /// Sends a request without content and reads the answer.
    func get(_ target: String, host: String = "localhost", fields: String = "") throws
        -> HTTPMessage
    {
        try send("GET \(target) HTTP/1.1\r\nHost: \(host)\r\n\(fields)\r\n")
        return try readResponse()
    }

    /// Waits for the peer's end, throws if something else comes, and closes.
    func expectEnd() throws {
        let rest = try readToEnd()
        close()
        try check(rest.isEmpty, "'\(rest.prefix(200).text)' came instead of the end")
    }
}

/// The ways for the same exchange.
enum Way: String, CaseIterable, CustomTestStringConvertible {
    case absoluteForm
    case plainTunnel
    case tunnel13
    case tunnel12

    var testDescription: String { rawValue }

    var kind: ScriptedOrigin.Kind { isSecure ? .tls : .plain }
    var isSecure: Bool { self == .tunnel12 || self == .tunnel13 }

    /// A connection that leads to `origin`.
    func open(_ proxy: ProxyUnderTest, _ origin: ScriptedOrigin) throws -> Wire {
        switch self {
        case .absoluteForm: try proxy.connect()
        case .plainTunnel: try proxy.tunnel(to: origin.authority)
        case .tunnel13:
            try proxy.secureTunnel(to: origin, versions: TLSVersions(.tls13, .tls13))
        case .tunnel12:
            try proxy.secureTunnel(to: origin, versions: TLSVersions(.tls12, .tls12))
        }
    }

    /// A path as the request's target has it.
    func target(_ path: String, _ origin: ScriptedOrigin) -> String {
        self == .absoluteForm ? "http://\(origin.authority)\(path)" : path
    }
}

/// Lets time pass that belongs to a behaviour, never to wait for something.
func pause(milliseconds: UInt32) {
    usleep(milliseconds * 1000)
}
