/// What a client does wrong in general, as the cases tell that it got wrong.
package enum BatteryMistake: String, Sendable, CaseIterable {
    case resumesBlindly = "resumes-blindly"
    case keepsStaleBeginning = "keeps-stale-beginning"
    case ignoresContentRange = "ignores-content-range"
    case takesRefusalForEnd = "takes-416-for-complete"
    case mixesCodings = "mixes-codings"
    case takesPage = "takes-page"
    case takesCutForWhole = "takes-cut-for-whole"
    case ignoresDigests = "ignores-digests"
    case claimsUpload = "claims-upload"
    case givesUp = "gives-up"

    package var title: String {
        switch self {
        case .resumesBlindly: "goes on without asking whether it is still the same version"
        case .keepsStaleBeginning: "keeps its beginning when the whole of another version comes"
        case .ignoresContentRange: "appends whatever a 206 brings without comparing Content-Range"
        case .takesRefusalForEnd: "takes a 416 for the end of the file"
        case .mixesCodings: "appends coded bytes to plain ones"
        case .takesPage: "takes a page for the file"
        case .takesCutForWhole: "takes a content that broke off for whole"
        case .ignoresDigests: "does not compare digests"
        case .claimsUpload: "says that an upload is done that the server does not have"
        case .givesUp: "gives up where it could go on"
        }
    }

    package var sentence: String {
        switch self {
        case .resumesBlindly:
            "The rest of one version is joined to the beginning of another, and nothing tells."
        case .keepsStaleBeginning:
            "A 200 is the whole; what is skipped or kept of it was never compared."
        case .ignoresContentRange:
            "Bytes are doubled or missing where a server or a cache sends another part."
        case .takesRefusalForEnd:
            "A 416 says that there are no bytes there, and not that those before are right."
        case .mixesCodings: "A part in a coding counts other bytes than those that are there."
        case .takesPage: "What a portal or a login page sends ends up in the file."
        case .takesCutForWhole: "The end of the connection is not the end of the content."
        case .ignoresDigests: "Damage behind the checksums of TCP, in a cache or on a disk, stays."
        case .claimsUpload: "Its user deletes the only copy."
        case .givesUp: "Nothing is wrong in silence, but a person has to begin anew by hand."
        }
    }

    package var fix: String {
        switch self {
        case .resumesBlindly:
            "keep the strong ETag, else the date, with the beginning; send it in If-Range, and"
                + " begin anew without one"
        case .keepsStaleBeginning: "truncate the file when a 200 comes, and take it from the start"
        case .ignoresContentRange:
            "take a 206 only with a Content-Range that begins where the file ends, and whose total"
                + " is the known one"
        case .takesRefusalForEnd:
            "after a 416 compare the total of Content-Range and the validator, else begin anew"
        case .mixesCodings:
            "send Accept-Encoding: identity, and refuse a part with another Content-Encoding"
        case .takesPage: "take a 200 from its first byte, and compare type, length and validator"
        case .takesCutForWhole:
            "demand the last chunk, or all of Content-Length; else compare Repr-Digest"
        case .ignoresDigests: "send Want-Repr-Digest, and compare what comes"
        case .claimsUpload: "ask the server for the offset, or compare the digest that it tells"
        case .givesUp: "begin anew by itself where the rest cannot be had"
        }
    }

    /// Of which outcome it speaks.
    fileprivate var outcome: BatteryOutcome { self == .givesUp ? .detected : .silent }

    fileprivate func explains(_ tried: BatteryCase, of kind: BatteryKind) -> Bool {
        switch self {
        case .claimsUpload: kind == .upload
        case .givesUp: kind == .resume ? tried.isServerRight : tried.runLimit > 1
        default: kind == .resume && cases.contains(tried.id)
        }
    }

    private var cases: [String] {
        switch self {
        case .resumesBlindly: ["changed-tag", "changed-date", "changed-weak-tag", "changed-size"]
        case .keepsStaleBeginning: ["whole", "whole-changed"]
        case .ignoresContentRange:
            ["good", "total-unknown", "part-early", "part-late", "part-unlabelled", "page-as-part"]
        case .takesRefusalForEnd: ["shrunk"]
        case .mixesCodings: ["part-gzip"]
        case .takesPage: ["page"]
        case .takesCutForWhole: ["no-last-chunk", "cut-until-close"]
        case .ignoresDigests: ["flipped", "flipped-digest"]
        case .claimsUpload, .givesUp: []
        }
    }
}

/// A mistake with the cases that show it.
package struct BatteryDiagnosis: Sendable {
    package let mistake: BatteryMistake
    package let cases: [String]
}

extension BatteryReport {
    /// The gravest first.
    package var diagnosis: [BatteryDiagnosis] {
        BatteryMistake.allCases.compactMap { mistake in
            let shown = judged.filter {
                $0.outcome == mistake.outcome && mistake.explains($0.tried, of: kind)
            }
            return shown.isEmpty
                ? nil : BatteryDiagnosis(mistake: mistake, cases: shown.map(\.tried.id))
        }
    }
}
