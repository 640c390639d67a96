internal import Base
internal import Catalogue
internal import Filters
internal import HTTPModel
internal import Origins
internal import Proxy
internal import Replay
internal import Traffic

extension FuzzedReader {
    static let texts: [FuzzedReader] = [filters, rules, probes, policies, bodies, fieldValues]

    private static let filters = FuzzedReader(
        "filters", lengthLimit: 512, isCut: false,
        words: [
            "host", "method", "status", "url", "path", "query", "header:", "body", "size", "time",
            "duration", "==", "!=", "~", "~~", ">=", "<", " and ", " or ", "not ", "(", ")", "\"",
            "200", "2xx", "10kb", "5m", "[a-z]+", "{2,5}", "(?i)", "\\d", ".*", "finding", "in ",
        ],
        seeds: {
            [
                "host == a.example and (status >= 400 or not method ~ \"P(OST|UT)\")",
                "header:content-type ~ json and size > 10kb and duration < 1.5s", "body ~~ secret",
                "url ~ ^https?://[^/]{1,64}/(a|b)*$", "finding", "a.example", "status == 2xx",
            ].map { Array($0.utf8) }
        },
        run: { bytes, _, transcript in
            let text = String(decoding: bytes, as: UTF8.self)
            for subject in FilterField.Subject.allCases {
                do {
                    let filter = try FilterReader.read(text, for: subject)
                    transcript.note("cost", filter.cost.rawValue)
                    guard subject == .exchanges else { continue }
                    let accepted = try filter.accepts(
                        ExchangeSubject(Sample.exchange, in: SampleFilterSource()))
                    transcript.note("accepts", accepted ? 1 : 0)
                } catch { transcript.note("violation", text: "\(error)") }
            }
        })

    private static let rules = FuzzedReader(
        "replay-rules", lengthLimit: 2048, isCut: false,
        words: [
            "ignore ", "match ", "at ", "/*", "request ", "response ", "query:", "header:", "body:",
            "*", "#",
        ],
        seeds: {
            [
                "ignore request header:date\nmatch body:$.a[*].b\n# note\n", "ignore query:ts",
                "ignore at A.example:8443/b/** path\nsubstitute query q\n",
            ]
            .map { Array($0.utf8) }
        },
        run: { bytes, _, transcript in
            do throws(Failure) {
                let rules = try ReplayRules(text: String(decoding: bytes, as: UTF8.self))
                let again: ReplayRules
                do throws(Failure) { again = try ReplayRules(text: rules.text) } catch {
                    Oracle.fail("rules that were written anew are refused: \(error.detail)")
                }
                Oracle.check(again == rules, "rules have become others: \(rules.text)")
                transcript.note("rules", text: rules.text)
            } catch { transcript.note("violation", text: error.detail) }
        })

    private static let probes = FuzzedReader(
        "probes", lengthLimit: 4096, isCut: false,
        words: [
            "expectation: ", "severity: ", "profile: ", "order: ", "reason: ", "fix: ",
            "behaviour: ", "[leaf]", "[root]", "[intermediate]", "subject: ", "key: rsa2048",
            "not-after: -1d", "{host}", "{label:0}", "critical ", "dns:", "ip:", "serial: ",
        ],
        seeds: {
            [
                "title: A\nexpectation: inform\nreason: a\n  b\nsource: RFC 9525 §6\n\n[leaf]\n"
                    + "host-labels: 1\nsubject: CN={host}\nsan: ip:192.0.2.1\n\n[intermediate]\n",
                "title: A\nprofile: quick\norder: 2\nhistory: CVE-2014-3577\n\n[leaf]\nsan: none\n"
                    + "not-after: -1d\nkey: rsa2048\nextension: 1.2.3 critical 0500\n",
            ].map { Array($0.utf8) }
        },
        run: { bytes, _, transcript in
            do throws(Failure) {
                let probe = try ProbeReader.read(bytes, path: "name-fuzzed.probe")
                transcript.note("chain", probe.chain.count)
            } catch { transcript.note("violation", text: error.detail) }
        })

    /// Which hosts are intercepted, passed or blocked: patterns, and a host to judge.
    private static let policies = FuzzedReader(
        "policies", lengthLimit: 512, isCut: false, words: ["*.", ".", "xn--", "[::1]", "/"],
        seeds: { ["*.example\na.example", "127.0.0.1\n127.0.0.1", "*\nx"].map { Array($0.utf8) } },
        run: { bytes, _, transcript in
            let parts = bytes.split(separator: 0x0A, maxSplits: 1)
            guard let first = parts.first, let last = parts.last,
                let pattern = HostPattern(String(decoding: first, as: UTF8.self))
            else { return }
            let host = String(decoding: last, as: UTF8.self)
            transcript.note("matches", pattern.matches(host) ? 1 : 0)
            let again = HostPattern(pattern.text)
            Oracle.check(again == pattern, "a pattern has become another: \(pattern.text)")
        })

    /// Contents that replays compare: JSON, forms, multipart, Protocol Buffers.
    private static let bodies = FuzzedReader(
        "bodies", isCut: false, words: ["\"", "{", "[", "\\u", "--b\r\n", "e999", "%", "\u{08}"],
        seeds: {
            [
                [0] + Array(#"{"a":[1,2.5e3,"\ud83d\ude00",null,true],"b":{"c":""}}"#.utf8),
                [1] + Array("a=1&b=%41+c".utf8),
                [2]
                    + Array(
                        "--b\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\nx\r\n--b--".utf8),
                [3, 0, 0, 0, 0, 9, 8, 0x96, 1, 0x12, 2, 0x08, 1, 0x1D, 0],
                [4] + Array(#"{"query":"query Q($a:Int){b(c:$a)}","variables":{"a":1}}"#.utf8),
                [5, 0x08, 0x96, 0x01, 0x12, 0x02, 0x08, 0x01],
            ]
        },
        run: { bytes, _, transcript in
            guard let first = bytes.first else { return }
            let types: [String] = [
                "application/json", "application/x-www-form-urlencoded",
                "multipart/form-data; boundary=b", "application/grpc", "application/json",
                "application/x-protobuf",
            ]
            let form = BodyForm(
                Array(bytes.dropFirst()), type: Array(types[Int(first) % 6].utf8)[...])
            transcript.note("kind", text: form.kind.rawValue)
            for field in form.fields { transcript.note("field", text: field.path) }
        })

    /// Values of fields that mean something: dates, ranges, tags.
    private static let fieldValues = FuzzedReader(
        "field-values", lengthLimit: 512, isCut: false,
        words: ["bytes=", "bytes ", "GMT", "W/\"", "*/", "-", ", ", "18446744073709551615"],
        seeds: {
            [
                "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
                "Sun Nov  6 08:49:37 1994", "bytes=0-5,-3,7-", "bytes 0-4/10", "bytes */10",
                "W/\"a\", \"b\"", "text/html; charset=\"a\\\"b\"; q=1",
            ].map { Array($0.utf8) }
        },
        run: { bytes, _, transcript in
            let date = HTTPDate(bytes[...], now: HTTPDate(seconds: 1_700_000_000))
            transcript.note("date", Int(date?.seconds ?? 0))
            if let date { transcript.note("text", text: date.text) }
            transcript.note("ranges", RangeSpecifier.list(bytes[...])?.count ?? -1)
            do throws(ContentRangeViolation) {
                transcript.note("range", text: try ContentRange(bytes[...]).text)
            } catch { transcript.note("violation", text: error.rawValue) }
            transcript.note("tag", text: EntityTag(bytes[...])?.text ?? "")
            transcript.note("condition", text: "\(EntityTagCondition([bytes[...]]))")
            transcript.note("value", text: ParameterizedValue(bytes[...]).text)
        })
}
