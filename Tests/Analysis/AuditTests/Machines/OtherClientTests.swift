import Audit
import Base
import Catalogue
import Foundation
import TLS
import TestConditions
import Testing

/// Clients of other libraries than curl's.
@Suite(.serialized, .ownThread)
struct OtherClientTests {
    private let chains = ProbeChains.shared

    struct Row: Sendable, CustomTestStringConvertible {
        let program: String
        let name: String
        let behaviour: ProbeBehaviour
        let chain: @Sendable (ProbeChains) -> PresentedChain
        let command: String
        let verdicts: [ConnectionVerdict]
        var testDescription: String { "\(program): \(name)" }
    }

    private static func gnutls(
        _ name: String, _ behaviour: ProbeBehaviour = .serve,
        _ chain: @escaping @Sendable (ProbeChains) -> PresentedChain, _ options: String = "",
        _ verdicts: ConnectionVerdict...
    ) -> Row {
        Row(
            program: "gnutls-cli", name: name, behaviour: behaviour, chain: chain,
            command: "gnutls-cli --x509cafile=CA -p PORT localhost \(options)", verdicts: verdicts)
    }

    private static func python(
        _ name: String, _ behaviour: ProbeBehaviour = .serve,
        _ chain: @escaping @Sendable (ProbeChains) -> PresentedChain, _ options: String = "",
        _ verdicts: ConnectionVerdict...
    ) -> Row {
        Row(
            program: "python3", name: name, behaviour: behaviour, chain: chain,
            command: "python3 LAB/client.py PORT CA \(options)", verdicts: verdicts)
    }

    private static let script = """
        import socket, ssl, sys
        context = ssl.create_default_context(cafile=sys.argv[2])
        if "unchecked" in sys.argv:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        plain = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        secure = context.wrap_socket(plain, server_hostname="localhost")
        secure.sendall(b"PING\\r\\n")
        secure.recv(100)
        """

    private static func nss(
        _ name: String, _ behaviour: ProbeBehaviour = .serve,
        _ chain: @escaping @Sendable (ProbeChains) -> PresentedChain,
        _ verdicts: ConnectionVerdict...
    ) -> Row {
        Row(
            program: "tstclnt", name: name, behaviour: behaviour, chain: chain,
            command: "sh LAB/nss.sh PORT CA", verdicts: verdicts)
    }

    private static let nssScript = """
        lab=$(mktemp -d)
        certutil -N -d sql:$lab --empty-password
        certutil -A -d sql:$lab -n ca -t C,, -i "$2"
        printf 'GET / HTTP/1.0\\r\\n\\r\\n' >$lab/request
        tstclnt -4 -d sql:$lab -h localhost -p "$1" -V tls1.2:tls1.3 <$lab/request
        status=$?
        rm -r $lab
        exit $status
        """

    static let rows: [Row] = [
        nss("sound", .serve, { $0.ec }, .accepted),
        nss("self-signed", .serve, { $0.selfSigned }, .refused(alert: 42)),
        nss("downgrade sentinel", .downgradeSentinel, { $0.rsa }, .refused(alert: 47)),
        nss("early ChangeCipherSpec", .earlyChangeCipherSpec, { $0.rsa }, .refused(alert: 10)),
        gnutls("self-signed", .serve, { $0.selfSigned }, "", .refused(alert: 42)),
        gnutls("wrong name", .serve, { $0.wrongName }, "", .refused(alert: 42)),
        gnutls("expired", .serve, { $0.expired }, "", .refused(alert: 42)),
        gnutls("goto fail, RSA", .gotoFail, { $0.rsa }, "", .refused(alert: 51)),
        gnutls("goto fail, EC", .gotoFail, { $0.ec }, "", .refused(alert: 51)),
        gnutls(
            "goto fail, TLS 1.2", .gotoFail, { $0.rsa },
            "--priority=NORMAL:-VERS-ALL:+VERS-TLS1.2", .refused(alert: 51)),
        gnutls("wrong Finished", .wrongFinished, { $0.ec }, "", .refused(alert: 51)),
        gnutls(
            "wrong Finished, TLS 1.2", .wrongFinished, { $0.ec },
            "--priority=NORMAL:-VERS-ALL:+VERS-TLS1.2", .refused(alert: 51), .refused(alert: 40)),
        gnutls(
            "small group", .smallGroup768, { $0.rsa },
            "--priority=NORMAL:-VERS-ALL:+VERS-TLS1.2:+DHE-RSA", .refused(alert: 71)),
        python("sound", .serve, { $0.ec }, "", .accepted),
        python("unchecked", .serve, { $0.selfSigned }, "unchecked", .accepted),
        python("self-signed", .serve, { $0.selfSigned }, "", .refused(alert: 48)),
        python("wrong name", .serve, { $0.wrongName }, "", .refused(alert: 42)),
        python("expired", .serve, { $0.expired }, "", .refused(alert: 45)),
        python("goto fail, unchecked", .gotoFail, { $0.ec }, "unchecked", .refused(alert: 51)),
        python(
            "skipped key exchange", .skippedServerKeyExchange, { $0.rsa }, "", .refused(alert: 10)),
    ]

    @Test(arguments: rows.filter { ClientRun.isThere($0.program) })
    func judges(_ row: Row) async throws {
        try Data(Self.script.utf8).write(to: chains.folder.appendingPathComponent("client.py"))
        try Data(Self.nssScript.utf8).write(to: chains.folder.appendingPathComponent("nss.sh"))
        let run = try await ProbeTrial(row.behaviour, row.chain(chains), row.command)
        #expect(row.verdicts.contains(run.verdict()), "\(run.seen) \(run.client)")
    }
}
