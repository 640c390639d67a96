import Base
import Traffic

@testable import Findings

/// Traffic with what has to be found in it, and what else may be.
struct CorpusRow: Sendable {
    let name: String
    /// What has to be found; `nil` if nothing of high severity is there.
    let wanted: RuleID?
    /// What else is right to be found at high and firm.
    var also: Set<RuleID> = []
    var firstParties: [String] = []
    let traffic: Traffic

    enum Traffic: Sendable {
        case exchanges([Sample])
        case dialogue(DialogueSample)
        case socket(WebSocketSample)
    }

    var report: FindingsReport {
        switch traffic {
        case .exchanges(let samples): FindingsLaboratory.run(samples, firstParties: firstParties)
        case .dialogue(let sample): sample.report()
        case .socket(let sample): sample.report()
        }
    }

    static func hit(_ name: String, _ rule: RuleID, _ samples: Sample...) -> CorpusRow {
        CorpusRow(name: name, wanted: rule, traffic: .exchanges(samples))
    }

    static func calm(_ name: String, _ samples: Sample...) -> CorpusRow {
        CorpusRow(name: name, wanted: nil, traffic: .exchanges(samples))
    }
}

/// How a field with a name and a value travels.
enum Carrier: String, CaseIterable {
    case form, json, xml, multipart, query

    func sample(
        _ name: String, _ value: String, over scheme: ExchangeRecord.Scheme = .http
    ) -> Sample {
        let coded = PercentText.encode(value)
        return switch self {
        case .form:
            .post("lang=en&\(name)=\(coded)", "application/x-www-form-urlencoded", over: scheme)
        case .json:
            .post(
                "{\"lang\":\"en\",\"in\":{\"\(name)\":\"\(value)\"}}", "application/json",
                over: scheme)
        case .xml:
            .post("<a><lang>en</lang><\(name)>\(value)</\(name)></a>", "text/xml", over: scheme)
        case .multipart:
            .post(
                "--xYz\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n--xYz--\r\n",
                "multipart/form-data; boundary=xYz", over: scheme)
        case .query: .get("/a?lang=en&\(name)=\(coded)", over: scheme)
        }
    }
}
