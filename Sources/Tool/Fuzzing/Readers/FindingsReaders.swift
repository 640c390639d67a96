internal import Base
internal import Findings

extension FuzzedReader {
    /// The files by which a project decides what becomes of findings.
    static let findings: [FuzzedReader] = [policy, baseline]

    private static let policy = FuzzedReader(
        "findings-policy", lengthLimit: 2048, isCut: false,
        words: [
            "[gate]", "[expect]", "[suppress]", "fail-on = ", "rule = ", "service = ", "path = ",
            "field = ", "fingerprint = ", "reason = ", "expires = ", "2027-03-31", "never",
            "URL-TOKEN", "first-party = ", "cleartext-host = ", "host = ", "exchanges = ", "*",
            "\n",
        ],
        seeds: {
            [
                "first-party = a.example\n[gate]\nfail-on = low tentative\nURL-TOKEN = never\n"
                    + "[expect]\nhost = *.a.example\nexchanges = 2\n",
                "[suppress]\nrule = URL-TOKEN\nservice = *\npath = /a/*\nreason = b\n"
                    + "expires = 2027-03-31\n",
            ].map { Array($0.utf8) }
        },
        run: { bytes, _, transcript in
            do throws(Failure) {
                let policy = try FindingsPolicy(
                    bytes, path: "p", now: Timestamp(microseconds: 1_773_100_800_000_000))
                transcript.note("policy", text: policy.summary)
                for suppression in policy.suppressions {
                    transcript.note("suppression", text: suppression.justification)
                }
            } catch { transcript.note("violation", text: error.detail) }
        })

    private static let baseline = FuzzedReader(
        "findings-baseline", lengthLimit: 1024, isCut: false,
        words: ["0123456789abcdef0123456789ABCDEF", " ", "\n", "# "],
        seeds: { [Array("# a\n0123456789abcdef0123456789abcdef URL-TOKEN GET a\n".utf8)] },
        run: { bytes, _, transcript in
            do throws(Failure) {
                _ = try Baseline(bytes, path: "b")
                transcript.note("baseline")
            } catch { transcript.note("violation", text: error.detail) }
        })
}
