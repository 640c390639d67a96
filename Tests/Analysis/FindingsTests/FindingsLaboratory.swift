import Base
import Testing
import Traffic

@testable import Findings

/// Builds records and runs the engine over them.
enum FindingsLaboratory {
    /// Stands in for the real digests: deterministic, and mixes every byte; nothing more is needed.
    static func digest(_ bytes: [UInt8], size: Int, salt: UInt64) -> [UInt8] {
        var result: [UInt8] = []
        var state: UInt64 = 0xCBF2_9CE4_8422_2325 ^ salt
        for byte in bytes { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
        while result.count < size {
            state ^= state >> 29
            state = state &* 0xBF58_476D_1CE4_E5B9
            result.append(UInt8(truncatingIfNeeded: state >> 32))
        }
        return result
    }

    static let digests = DigestFunctions(
        sha256: { digest($0, size: 32, salt: 1) }, sha1: { digest($0, size: 20, salt: 2) },
        md5: { digest($0, size: 16, salt: 3) },
        hmacSHA256: { digest($0 + [0] + $1, size: 32, salt: 4) })

    static func configuration(
        profile: SubjectProfile? = nil, loopbackAsRemote: Bool = false, runKey: UInt8 = 7,
        firstParties: [String] = []
    ) -> FindingsConfiguration {
        var configuration = FindingsConfiguration(
            profile: profile, digests: digests, runKey: [UInt8](repeating: runKey, count: 32),
            registrableDomain: { host in
                let labels = host.split(separator: ".")
                return labels.count < 2 ? nil : labels.suffix(2).joined(separator: ".")
            }, treatsLoopbackAsRemote: loopbackAsRemote)
        configuration.firstParties = firstParties
        return configuration
    }

    static func run(
        _ traffic: [Sample], profile: SubjectProfile? = nil, loopbackAsRemote: Bool = false,
        firstParties: [String] = []
    ) -> FindingsReport {
        var engine = FindingsEngine(
            configuration(
                profile: profile, loopbackAsRemote: loopbackAsRemote, firstParties: firstParties))
        for (index, item) in traffic.enumerated() { item.feed(&engine, id: Int64(index + 1)) }
        return engine.report()
    }

    static func findings(_ traffic: Sample..., profile: SubjectProfile? = nil) -> [Finding] {
        run(traffic, profile: profile).findings
    }
}

/// One exchange in short hand.
struct Sample: Sendable {
    var scheme = ExchangeRecord.Scheme.http
    var host = "api.example"
    var method = "GET"
    var target = "/"
    var headers: [String] = []
    var body: [UInt8] = []
    var status = 200
    var responseHeaders: [String] = []
    var responseBody: [UInt8] = []
    var answeredByTool = false
    var milliseconds: Int64?
    var error: String?
    /// What the record says of the response's size.
    var claimedSize: Int64?

    static func login(_ password: String, at host: String) -> Sample {
        .post("{\"login\":\"nora\",\"password\":\"\(password)\"}", "", over: .https, to: host)
    }

    static func clear(_ headers: String...) -> Sample { Sample(headers: headers) }

    static func get(
        _ target: String, over scheme: ExchangeRecord.Scheme = .http, headers: [String] = []
    ) -> Sample {
        Sample(scheme: scheme, target: target, headers: headers)
    }

    static func post(
        _ body: String, _ type: String, over scheme: ExchangeRecord.Scheme = .http,
        to host: String = "api.example"
    ) -> Sample {
        Sample(
            scheme: scheme, host: host, method: "POST", target: "/login",
            headers: type.isEmpty ? [] : ["Content-Type: \(type)"], body: Array(body.utf8))
    }

    func at(_ host: String) -> Sample {
        var result = self
        result.host = host
        return result
    }

    static func answer(_ body: String, _ type: String = "application/json") -> Sample {
        Sample(
            scheme: .https, responseHeaders: ["Content-Type: \(type)"],
            responseBody: Array(body.utf8))
    }

    static func page(_ html: String, over scheme: ExchangeRecord.Scheme) -> Sample {
        Sample(
            scheme: scheme, responseHeaders: ["Content-Type: text/html; charset=utf-8"],
            responseBody: Array(html.utf8))
    }

    func feed(_ engine: inout FindingsEngine, id: Int64, connection: ConnectionRecord? = nil) {
        var record = ExchangeRecord(
            id: id, connection: 1, startedAt: Timestamp(microseconds: id * 1_000_000),
            scheme: scheme, authority: host)
        let lines = ["\(method) \(target) HTTP/1.1", "Host: \(host)"] + headers
        record.requestHead = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        let answer = ["HTTP/1.1 \(status) X"] + responseHeaders
        record.responseHead = Array((answer.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        record.status = status
        record.answeredByTool = answeredByTool
        record.durationMicroseconds = milliseconds.map { $0 * 1000 }
        record.error = error
        record.requestBody.size = Int64(body.count)
        record.responseBody.size = claimedSize ?? Int64(responseBody.count)
        let digest = FindingsLaboratory.digest(responseBody, size: 8, salt: 5)
        engine.observe(
            record, on: connection, requestBody: body,
            responseBody: Array(responseBody.prefix(CaptureInspection.contentLimit)),
            responseDigest: responseBody.isEmpty
                ? nil : digest.reduce(0) { $0 << 8 | UInt64($1) })
    }
}

/// One row of a rule's table.
struct RuleRow: Sendable, CustomTestStringConvertible {
    let name: String
    let rule: RuleID
    let traffic: [Sample]
    /// `nil` if the rule must be silent.
    let severity: Severity?
    let confidence: Confidence?

    static func hit(
        _ name: String, _ rule: RuleID, _ severity: Severity, _ confidence: Confidence,
        _ traffic: Sample...
    ) -> RuleRow {
        RuleRow(
            name: name, rule: rule, traffic: traffic, severity: severity, confidence: confidence)
    }

    static func silent(_ name: String, _ rule: RuleID, _ traffic: Sample...) -> RuleRow {
        RuleRow(name: name, rule: rule, traffic: traffic, severity: nil, confidence: nil)
    }

    var testDescription: String { "\(rule.rawValue): \(name)" }
}

func base64(_ text: String) -> String { Base64.encode(Array(text.utf8)) }

/// A JSON Web Token without meaning, put together so that no scanner takes it for a real one.
let exampleToken =
    base64(#"{"alg":"HS256","typ":"JWT"}"#).filter { $0 != "=" } + "."
    + base64(#"{"sub":"1","exp":1900000000}"#).filter { $0 != "=" } + ".c2lnbmF0dXJlLWJ5dGVz"

func base64Bytes(_ bytes: [UInt8]) -> String { Base64.encode(bytes) }
