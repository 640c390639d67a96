import Base
import HTTPServer
import Testing

@testable import ContentServer

/// The words of faults, and the file of a scenario.
struct FaultVerbTests {
    @Test(arguments: [
        ("cut:400000", [Fault.cut(.byte(400_000), .finish)]),
        ("cut:64k:rst", [.cut(.byte(65_536), .reset)]),
        ("cut:head:truncate", [.cut(.head, .truncate)]),
        ("cut:any", [.cut(.drawn, .finish)]),
        ("reset:50%", [.cut(.share(500), .reset)]),
        ("stall:10", [.stall(.byte(10), milliseconds: nil)]),
        ("stall:10:2s", [.stall(.byte(10), milliseconds: 2000)]),
        ("delay:250ms|rate:1k", [.delay(milliseconds: 250), .rate(bytesPerSecond: 1024)]),
        (
            "slow-head:10 | slow-body:2s",
            [.slowHead(bytesPerSecond: 10), .slowBody(milliseconds: 2000)]
        ),
        ("drip:3:10ms", [.drip(slice: 3, milliseconds: 10)]),
        ("profile:3g", [.delay(milliseconds: 200), .rate(bytesPerSecond: 97_500)]),
        ("length:-16", [.length(-16)]),
        ("length:+1k", [.length(1024)]),
        ("goaway:0:11:unprocessed", [.goAway(.byte(0), code: 11, isProcessed: false)]),
        ("rst-stream:5", [.cut(.byte(5), .stream(2))]),
        ("flip", [.flip(.drawn, bit: nil)]),
        ("flip:17:3", [.flip(.byte(17), bit: 3)]),
        ("status:503:5:date", [.status(503, .date(5))]),
        (
            "version:2:bigger:weak",
            [.version(AssetVersion(number: 2, growth: .bigger, mark: .weak))]
        ),
        ("version:3:date", [.version(AssetVersion(number: 3, mark: .date))]),
        ("splice:100:2", [.version(AssetVersion(number: 2, splice: .byte(100)))]),
        ("range-lie:-16", [.range(.mislabelled(-16))]),
        ("range-short:5", [.range(.resized(-5))]),
        ("range-page:206", [.range(.page(206))]),
        ("416:7", [.unsatisfiable(length: 7)]),
    ])
    func reads(_ text: String, _ faults: [Fault]) throws {
        #expect(try FaultVerb.faults(text) == faults)
    }

    @Test(arguments: [
        ("", "there is no fault ''"), ("cutt:1", "there is no fault 'cutt'"),
        ("cut", "cut needs an offset"), ("cut:x", "cut takes no offset 'x'"),
        ("cut:101%", "cut takes no offset '101%'"), ("cut:1:fin:2", "cut has no use for '2'"),
        ("cut:1:rsst", "cut knows no 'rsst'; did you mean 'rst'?"),
        ("delay:5", "delay takes no time '5'"), ("delay:2h", "delay takes no time '2h'"),
        ("rate:0", "rate takes no rate '0'"), ("length:0", "length takes no number of bytes '0'"),
        ("profile:5g", "profile knows no '5g'; did you mean '3g'?"),
        ("status:99", "status takes no status '99'"), ("flip:1:8", "flip takes no bit '8'"),
        ("cut:1||flip", "there is no fault ''"),
        (String(repeating: "flip|", count: 16) + "flip", "more than 16 faults at once"),
    ])
    func refuses(_ text: String, _ detail: String) {
        #expect {
            try FaultVerb.faults(text)
        } throws: { error in
            (error as? FaultViolation)?.detail == detail
        }
    }

    @Test(arguments: [
        ("cut = 1\n", "s:1:1: 'cut' stands in no rule"),
        ("[rules]\n", "s:1:1: there is no section 'rules'"),
        ("[rule]\nfault = cut:1\nfault cut\n", "s:3:1: expected 'name = value' or '[rule]'"),
        ("[rule]\npath = /a\n", "s:1:1: a rule needs a fault"),
        ("[rule]\nfault = cot:1\n", "s:2:9: there is no fault 'cot'"),
        ("[rule]\nodds = 0.5\nfault = flip\n", "s:2:8: odds are a share such as '25%', not '0.5'"),
        ("[rule]\nturn = nth 0\nfault = flip\n", "s:2:8: there is no turn 'nth 0'"),
        ("[rule]\nrange = maybe\n", "s:2:9: range is 'yes' or 'no', not 'maybe'"),
        ("[rule]\nmethod = FOO!BAR\n", "s:2:10: 'FOO!BAR' is no method"),
        ("[rule]\nmethod = HEAD, get\n", "s:2:16: 'get' is no method"),
        ("[rule]\nmethod = GET;HEAD\n", "s:2:10: 'GET;HEAD' is no method"),
        ("[rule]\nmethod = ,\n", "s:2:10: there is no method in ','"),
        (
            "[rule]\npath = assets/*\n",
            "s:2:8: a path begins with '/' or '*', not 'assets/*'"
        ),
        (
            "[rule]\nfault = flip|flip|flip|flip|flip|flip|flip|flip|flip\n"
                + "fault = flip|flip|flip|flip|flip|flip|flip|flip\n",
            "s:3:9: more than 16 faults in a rule"
        ),
        (
            "[rule]\npath = *" + String(repeating: "a", count: 1024) + "\n",
            "s:2:8: a pattern of more than 1024 bytes"
        ),
        ("[rule]\nhots = a\n", "s:2:1: there is no setting 'hots'"),
        ("[rule]\nhost = a\nhost = b\n", "s:3:1: 'host' is there twice"),
        (
            "[rule]\nname = a\nfault = flip\n[rule]\nname = a\nfault = flip\n",
            "s:4:1: two rules have the name 'a'"
        ),
    ])
    func refusesScenarios(_ text: String, _ detail: String) {
        #expect {
            try Scenario.read([UInt8](text.utf8), path: "s")
        } throws: { error in
            (error as? Failure)?.detail == detail
        }
    }

    /// Rules by whom and what they are for, and whose turn it is.
    @Test func decides() throws {
        let scenario = try Scenario.read(
            [UInt8](
                """
                # The first two downloads break, and then every third.
                [rule]
                name = downloads
                path = /assets/*
                method = GET
                range = no
                turn = first 2
                fault = cut:100
                fault = rate:1k

                [rule]
                name = thirds
                host = *.test
                turn = each 3
                fault = status:503
                """.utf8), path: "s")
        let schedule = FaultSchedule(scenario, seed: 1)
        func rules(_ path: String, _ headers: [(String, String)] = [], client: String) throws
            -> String
        {
            schedule.decide(try request("GET", path, headers), client: client).rule ?? "-"
        }
        let seen = try (1...6).map { _ in try rules("/assets/1/1k", client: "a") }
        #expect(seen == ["downloads", "downloads", "thirds", "-", "-", "thirds"])
        #expect(try rules("/assets/1/1k", client: "b") == "downloads")
        #expect(try rules("/assets/1/1k", [("Range", "bytes=1-")], client: "c") == "-")
        schedule.reset()
        #expect(try rules("/assets/1/1k", client: "a") == "downloads")
    }

    @Test(arguments: [
        "HEAD, PATCH", "HEAD,PATCH", "HEAD PATCH", "HEAD ,\tPATCH", "PATCH, HEAD,",
    ])
    func readsMethods(_ text: String) throws {
        let scenario = try Scenario.read(
            [UInt8]("[rule]\nmethod = \(text)\nfault = status:404\n".utf8), path: "s")
        let schedule = FaultSchedule(scenario, seed: 1)
        for (method, isMeant) in [("HEAD", true), ("PATCH", true), ("GET", false)] {
            let decision = schedule.decide(try request(method, "/uploads/a"), client: "a")
            #expect((decision.rule != nil) == isMeant, "\(method)")
        }
    }

    /// Only what can bring the byte counts as a turn.
    @Test(arguments: [
        ("POST", [("Content-Length", "0"), ("Upload-Length", "1000")], false), ("POST", [], false),
        ("GET", [], false), ("HEAD", [("Content-Length", "900")], false),
        ("PUT", [("Content-Length", "400")], true), ("PUT", [("Content-Length", "399")], false),
        ("PUT", [("Transfer-Encoding", "chunked")], true),
        ("PATCH", [("Content-Length", "100"), ("Upload-Offset", "300")], true),
        ("PATCH", [("Content-Length", "100"), ("Upload-Offset", "200")], false),
        ("PATCH", [("Content-Length", "100"), ("Upload-Offset", "400")], false),
        ("PATCH", [("Content-Length", "1"), ("Upload-Offset", "18446744073709551615")], false),
    ])
    func reaches(_ method: String, _ headers: [(String, String)], _ reaches: Bool) throws {
        let scenario = try Scenario.read(
            [UInt8]("[rule]\nname = r\nreaches = 400\nfault = upload-cut:400\n".utf8), path: "s")
        let decision = FaultSchedule(scenario, seed: 1).decide(
            try request(method, "/uploads/a", headers), client: "a")
        #expect((decision.rule != nil) == reaches)
    }

    /// Whatever others ask meanwhile, a client meets the same.
    @Test func drawsForEachClientAlone() throws {
        var rule = Scenario.Rule(name: "r")
        rule.odds = 500
        rule.faults = [.flip(.drawn, bit: nil)]
        let request = try request("GET", "/assets/1/1k")
        func decisions(seed: UInt64, others: Int) -> [Bool] {
            let schedule = FaultSchedule(Scenario([rule]), seed: seed)
            return (0..<40).map { _ in
                for other in 0..<others { _ = schedule.decide(request, client: "o\(other)") }
                return schedule.decide(request, client: "a").rule != nil
            }
        }
        #expect(decisions(seed: 7, others: 0) == decisions(seed: 7, others: 3))
        #expect(decisions(seed: 7, others: 0) != decisions(seed: 8, others: 0))
        let share = decisions(seed: 7, others: 0).count { $0 }
        #expect((10...30).contains(share))
    }
}
