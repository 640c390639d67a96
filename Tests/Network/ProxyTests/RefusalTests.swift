import Base
import Foundation
import ProcessStart
import TLS
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// The ways in which a client says that it does not trust the certificate.
    @Suite struct Refusals {
        enum Shape: String, CaseIterable, Sendable {
            case alert
            case closeNotify
            case closeNotifyAndReset
            case finAfterHandshake
            case resetAfterHandshake
            case finInHandshake
            case resetInHandshake

            /// What the cause says.
            var words: String {
                switch self {
                case .alert: "with the alert unknown_ca"
                case .closeNotify: "client closed right after the handshake"
                case .closeNotifyAndReset: "right after the handshake"
                case .finAfterHandshake:
                    "client closed without close_notify right after the handshake"
                case .resetAfterHandshake: "client reset the connection right after the handshake"
                case .finInHandshake: "client closed the connection in the handshake"
                case .resetInHandshake: "client reset the connection in the handshake"
                }
            }

            var closesAtOnce: Bool {
                switch self {
                case .alert, .closeNotifyAndReset, .resetAfterHandshake, .resetInHandshake: true
                case .closeNotify, .finAfterHandshake, .finInHandshake: false
                }
            }

            func play(_ wire: Wire, _ session: TLSSession) throws {
                switch self {
                case .alert:
                    _ = try wire.beginSecuring(session)
                    try wire.transmit([21, 3, 3, 0, 2, 2, 48])
                    wire.close()
                case .closeNotify:
                    try wire.secure(session)
                    try wire.finish()
                    _ = try wire.readToEnd()
                case .closeNotifyAndReset:
                    try wire.secure(session)
                    try wire.finish()
                    wire.reset()
                case .finAfterHandshake:
                    try wire.secure(session)
                    wire.hangUp()
                    _ = try wire.readToEnd()
                case .resetAfterHandshake:
                    try wire.secure(session)
                    wire.reset()
                case .finInHandshake:
                    _ = try wire.beginSecuring(session)
                    wire.hangUp()
                    _ = try wire.readToEnd()
                case .resetInHandshake:
                    _ = try wire.beginSecuring(session)
                    wire.reset()
                }
            }
        }

        static let versions = [TLSVersions(.tls12, .tls12), TLSVersions(.tls13, .tls13)]

        @Test(arguments: Shape.allCases, versions)
        func isRecordedWithItsCause(_ shape: Shape, _ versions: TLSVersions) throws {
            try withProxy { proxy in
                let origin = try proxy.greeter(.tls)
                let client = try proxy.tunnel(to: origin.authority)
                try shape.play(
                    client, ProxyUnderTest.clientSession(for: "localhost", versions: versions))
                try expectRefusal(proxy, shape)
            }
        }

        /// The CONNECT is an exchange of its own if it brings a password.
        @Test(arguments: Shape.allCases)
        func isRecordedBehindAPasswordToo(_ shape: Shape) throws {
            try withProxy { proxy in
                let origin = try proxy.greeter(.tls)
                let client = try proxy.tunnel(
                    to: origin.authority, fields: "Proxy-Authorization: Basic eDp5\r\n")
                try shape.play(client, ProxyUnderTest.clientSession(for: "localhost"))
                try expectRefusal(proxy, shape)
                #expect(try proxy.traffic.exchange().requestHead.text.hasPrefix("CONNECT "))
            }
        }

        private func expectRefusal(_ proxy: ProxyUnderTest, _ shape: Shape) throws {
            let connection = try proxy.traffic.connection()
            #expect(connection.outcome == .clientRefused)
            #expect(connection.closedBy == .client)
            #expect(connection.cause.contains(shape.words))
            #expect(connection.clientTLS?.sni == "localhost")
            #expect(connection.originTLS?.handshakeCompleted == true)
            let alerts = connection.clientTLS?.alerts.filter { $0.sender == .peer } ?? []
            switch shape {
            case .alert:
                #expect(alerts == [AlertRecord(sender: .peer, fatal: true, name: "unknown_ca")])
            case .closeNotify:
                #expect(alerts == [AlertRecord(sender: .peer, fatal: false, name: "close_notify")])
            case .closeNotifyAndReset: break
            default: #expect(alerts == [])
            }
        }

        /// Alerts, and whether they are about the certificate.
        static let alerts: [(code: UInt8, name: String, refuses: Bool)] = [
            (42, "bad_certificate", true), (43, "unsupported_certificate", true),
            (44, "certificate_revoked", true), (45, "certificate_expired", true),
            (46, "certificate_unknown", true), (48, "unknown_ca", true),
            (40, "handshake_failure", false), (70, "protocol_version", false),
            (80, "internal_error", false), (47, "illegal_parameter", false),
        ]

        @Test(arguments: alerts, versions)
        func alertTellsTheCause(
            _ alert: (code: UInt8, name: String, refuses: Bool), _ versions: TLSVersions
        ) throws {
            try withProxy { proxy in
                let origin = try proxy.greeter(.tls)
                let client = try proxy.tunnel(to: origin.authority)
                _ = try client.beginSecuring(
                    ProxyUnderTest.clientSession(for: "localhost", versions: versions))
                try client.transmit([21, 3, 3, 0, 2, 2, alert.code])
                client.reset()
                let connection = try proxy.traffic.connection()
                #expect(
                    connection.outcome == (alert.refuses ? .clientRefused : .clientHandshakeFailed))
                #expect(connection.cause.contains(alert.name))
            }
        }

        /// OpenSSL's own client sends the alert encrypted, as TLS 1.3 wants it.
        @Test(
            .enabled(if: FlawedOrigin.isThere),
            arguments: ["-tls1_2", "-tls1_3"])
        func realClientSendsAnAlert(_ version: String) throws {
            let origin = try ScriptedOrigin(.tls) { wire, _ in try wire.greet() }
            let target = ProxyPlan.ReverseTarget(
                .https, host: "localhost", port: origin.port)
            try withProxy(.mode(.reverse(target))) { proxy in
                proxy.adopt(origin)
                let client = Process()
                client.executableURL = URL(fileURLWithPath: FlawedOrigin.program)
                client.arguments = [
                    "s_client", "-connect", "\(proxy.address)", "-servername", "localhost",
                    "-verify_return_error", "-no-CAfile", version,
                ]
                client.standardInput = FileHandle.nullDevice
                client.standardOutput = FileHandle.nullDevice
                client.standardError = FileHandle.nullDevice
                try ProcessStart.alone { try client.run() }
                client.waitUntilExit()
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .clientRefused)
                #expect(connection.cause.contains("with the alert unknown_ca"))
            }
        }

        // MARK: Pins

        private static var findsProcesses: PlanChange {
            PlanChange { $0.wiring.findsProcesses = true }
        }

        /// Who trusts the CA for another host has another reason to refuse.
        @Test(arguments: Shape.allCases, [true, false])
        func pinIsToldFromDistrust(_ shape: Shape, trustsAnother: Bool) throws {
            try withProxy(Self.findsProcesses) { proxy in
                if trustsAnother {
                    let other = try proxy.greeter(.tls(name: "other.test"))
                    let served = try proxy.secureTunnel(to: other, name: "other.test")
                    #expect(try served.get("/").status == 200)
                    // It is still open when the other is refused.
                    defer { served.close() }
                    try refuse(shape, proxy)
                } else {
                    try refuse(shape, proxy)
                }
                let refused = try proxy.traffic.connection(where: {
                    $0.outcome == .clientRefused
                })
                // The program of a socket that is gone at once cannot be found.
                let isKnown = refused.process != nil
                #expect(isKnown || shape.closesAtOnce)
                let isPin = trustsAnother && isKnown
                let pins = "it trusts the CA for other.test, so that it probably pins another"
                let either = ": it does not trust the CA, or pins another certificate"
                #expect(refused.cause.contains(pins) == isPin, "\(refused.cause)")
                #expect(
                    refused.cause.hasSuffix(either) == (!isPin && shape != .alert),
                    "\(refused.cause)")
            }
        }

        private func refuse(_ shape: Shape, _ proxy: ProxyUnderTest) throws {
            let origin = try proxy.greeter(.tls)
            let client = try proxy.tunnel(to: origin.authority)
            try shape.play(client, ProxyUnderTest.clientSession(for: "localhost"))
        }

        // MARK: What is no refusal

        @Test(arguments: [Shape.closeNotify, .finAfterHandshake, .resetAfterHandshake])
        func lateEndIsNone(_ shape: Shape) throws {
            try withProxy(.limit(\.refusalWindow, 50)) { proxy in
                let origin = try proxy.greeter(.tls)
                let client = try proxy.secureTunnel(to: origin)
                pause(milliseconds: 200)
                switch shape {
                case .closeNotify: try client.finish()
                case .finAfterHandshake: client.hangUp()
                default: client.reset()
                }
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .completed)
                #expect(connection.closedBy == .client)
            }
        }

        @Test(arguments: [Shape.closeNotify, .finAfterHandshake, .resetAfterHandshake])
        func endBehindARequestIsNone(_ shape: Shape) throws {
            try withProxy { proxy in
                let origin = try proxy.greeter(.tls)
                let client = try proxy.secureTunnel(to: origin)
                #expect(try client.get("/").status == 200)
                switch shape {
                case .closeNotify: try client.finish()
                case .finAfterHandshake: client.hangUp()
                default: client.reset()
                }
                let connection = try proxy.traffic.connection()
                #expect(connection.outcome == .completed)
                #expect(connection.closedBy == .client)
            }
        }
    }
}
