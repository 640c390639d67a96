/// What a client does wrong in general, as the cases tell that it got wrong.
package enum BatteryMistake: String, Sendable, CaseIterable {
    case resumesBlindly = "resumes-blindly"
    case keepsStaleBeginning = "keeps-stale-beginning"
    case appendsWhole = "appends-whole"
    case ignoresContentRange = "ignores-content-range"
    case takesRefusalForEnd = "takes-416-for-complete"
    case appendsRefusal = "appends-416"
    case mixesCodings = "mixes-codings"
    case takesPage = "takes-page"
    case takesCutForWhole = "takes-cut-for-whole"
    case takesBeginningForWhole = "takes-beginning-for-whole"
    case joinsWrongly = "joins-wrongly"
    case claimsDownload = "claims-download"
    case ignoresDigests = "ignores-digests"
    case claimsUpload = "claims-upload"
    case givesUp = "gives-up"

    package var title: String {
        switch self {
        case .resumesBlindly: "goes on without asking whether it is still the same version"
        case .keepsStaleBeginning: "keeps its beginning when the whole of another version comes"
        case .appendsWhole: "appends a whole to what it has"
        case .ignoresContentRange: "appends whatever a 206 brings without comparing Content-Range"
        case .takesRefusalForEnd: "takes a 416 for the end of the file"
        case .appendsRefusal: "appends the page of a 416 to what it has"
        case .mixesCodings: "appends coded bytes to plain ones"
        case .takesPage: "takes a page for the file, or for its rest"
        case .takesCutForWhole: "takes a content that broke off for whole"
        case .takesBeginningForWhole: "takes its beginning for whole when something else comes"
        case .joinsWrongly: "makes a file that is none of the versions"
        case .claimsDownload: "says that a download is done of which there is nothing"
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
        case .appendsWhole: "A 200 begins at the first byte; the file has its beginning twice."
        case .ignoresContentRange:
            "Bytes are doubled or missing where a server or a cache sends another part."
        case .takesRefusalForEnd:
            "A 416 says that there are no bytes there, and not that those before are right."
        case .appendsRefusal: "Only what comes with 206 is a part; the text of an error is none."
        case .mixesCodings: "A part in a coding counts other bytes than those that are there."
        case .takesPage: "What a portal or a login page sends ends up in the file."
        case .takesCutForWhole: "The end of the connection is not the end of the content."
        case .takesBeginningForWhole: "What was answered is dropped, and the file stays cut."
        case .joinsWrongly: "Bytes are doubled, missing or mixed."
        case .claimsDownload: "Its user finds out when the file is needed."
        case .ignoresDigests: "Damage behind the checksums of TCP, in a cache or on a disk, stays."
        case .claimsUpload: "Its user deletes the only copy."
        case .givesUp: "Nothing is wrong in silence, but a person has to begin anew by hand."
        }
    }

    /// What to do.
    package func fix(in kind: BatteryKind) -> String {
        switch self {
        case .resumesBlindly:
            "keep the strong ETag, else the date, with the beginning; send it in If-Range, and"
                + " begin anew without one"
        case .keepsStaleBeginning, .appendsWhole:
            "truncate the file when a 200 comes, and take it from the start"
        case .ignoresContentRange:
            "take a 206 only with a Content-Range that begins where the file ends, and whose total"
                + " is the known one"
        case .takesRefusalForEnd, .appendsRefusal:
            "after a 416 compare the total of Content-Range and the validator, else begin anew"
        case .mixesCodings:
            "send Accept-Encoding: identity, and refuse a part with another Content-Encoding"
        case .takesPage: "take a 200 from its first byte, and compare type, length and validator"
        case .takesCutForWhole:
            "demand the last chunk, or all of Content-Length; else compare Repr-Digest"
        case .takesBeginningForWhole:
            "keep the length that the beginning came with, and exit with 0 only when all is there"
        case .joinsWrongly: "write each part where its Content-Range says"
        case .claimsDownload: "exit with another status than 0 until the file is there"
        case .ignoresDigests: "send Want-Repr-Digest, and compare what comes"
        case .claimsUpload: "ask the server for the offset, or compare the digest that it tells"
        case .givesUp where kind == .upload:
            "ask with HEAD how far the upload is, and go on there; begin anew where it is gone"
        case .givesUp: "begin anew by itself where the rest cannot be had"
        }
    }
}

extension BatteryResult {
    /// What the client did wrong here, as the requests and the file show; `nil` for nothing.
    func mistake(in kind: BatteryKind) -> BatteryMistake? {
        switch (outcome, kind) {
        case (.silent, .resume): mistakeInFile
        case (.silent, .upload): .claimsUpload
        case (.detected, .resume): tried.isServerRight ? .givesUp : nil
        case (.detected, .upload): tried.runLimit > 1 ? .givesUp : nil
        default: nil
        }
    }

    private var mistakeInFile: BatteryMistake {
        let last = requests.behindCut.last
        switch content {
        case .nothing: return .claimsDownload
        case .beginning where last == nil: return .takesCutForWhole
        case .beginning: return last?.status == 416 ? .takesRefusalForEnd : .takesBeginningForWhole
        case .beginningAndWhole: return .appendsWhole
        case .beginningAndPage:
            return switch last?.status {
            case 416: .appendsRefusal
            case 206: .ignoresContentRange
            default: .takesPage
            }
        case .page: return .takesPage
        case .spliced: return last?.status == 206 ? .resumesBlindly : .keepsStaleBeginning
        case .right, .other: return mistakeByFault
        }
    }

    /// Of a file that is damaged: by what, of the faults that the client met, damages it so.
    private var mistakeByFault: BatteryMistake {
        let faults = requests.flatMap(\.faults)
        let damages: [(fault: String, mistake: BatteryMistake)] = [
            ("range gzip", .mixesCodings), ("range shifted", .ignoresContentRange),
            ("range unlabelled", .ignoresContentRange), ("flip@", .ignoresDigests),
        ]
        return damages.first { damage in faults.contains { $0.hasPrefix(damage.fault) } }?.mistake
            ?? .joinsWrongly
    }
}

/// A mistake with the cases that show it.
package struct BatteryDiagnosis: Sendable {
    package let mistake: BatteryMistake
    package let cases: [String]
}

extension BatteryReport {
    /// The gravest first; a client that fails the sound case is not told finer ones.
    package var diagnosis: [BatteryDiagnosis] {
        guard results.first?.outcome == .correct else { return [] }
        let found = Dictionary(grouping: judged) { $0.mistake(in: kind) }
        return BatteryMistake.allCases.compactMap { mistake in
            found[mistake].map { BatteryDiagnosis(mistake: mistake, cases: $0.map(\.tried.id)) }
        }
    }
}
