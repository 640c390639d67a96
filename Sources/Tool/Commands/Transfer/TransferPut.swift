internal import Base
internal import CommandSyntax
internal import Contents
internal import Transfer

extension Command {
    static var transferPut: Command {
        Command(
            "put", "upload a file",
            examples: [
                Example(
                    purpose:
                        "in the background, and on where it broke off if the server can do that",
                    line: "sallyport transfer put film.mp4 https://example.org/films/film.mp4"),
                Example(
                    purpose: "to a server of tus, and wait for it",
                    line:
                        "sallyport transfer put film.mp4 https://example.org/files/ --protocol tus"
                        + " --wait"),
                Example(
                    purpose: "as the file of a form",
                    line: "sallyport transfer put photo.jpg https://example.org/upload"
                        + " --protocol form --field photo --type image/jpeg"),
            ],
            details: [
                "Prints the transfer's ID. With --wait it shows a bar on a terminal and otherwise a line"
                    + " of JSON whenever something has changed, and forgets the transfer when it has told"
                    + " how it ended.",
                "The protocol automatic sends the file in one request, and offers to go on"
                    + " (draft-ietf-httpbis-resumable-upload); resumable makes an upload resource first."
                    + " What POST sends in one request is not sent again once a server may have it.",
                "The file has to stay as it is until the upload has ended: its SHA-256 is taken first,"
                    + " and sent along.",
                "It exits with 0 if the transfer is enqueued, or with --wait completed, with 1 if it"
                    + " failed or was cancelled, 3 if it waits for what you have to do (a login, to be"
                    + " resumed) or the waiting was interrupted, and 4 if it could not run.",
            ],
            arguments: TransferPutArguments(),
            parameters: [
                .positional(\.file, .path("FILE"), "what to upload"),
                .positional(\.url, .httpURL, "where to, by http or https"),
                .option(
                    "protocol", \.mode, .choice("PROTOCOL"), standard: "automatic", "how it is sent"
                ),
                .option(
                    "draft", \.version, .uploadVersion,
                    "the version of automatic and resumable (default: 8)"),
                .option(
                    "method", \.method, .choice("METHOD"),
                    "what the first request is (default: PUT; POST for form, resumable and tus)"),
                .option(
                    "field", \.field, .text("NAME"),
                    "the name of the form's field (default: file)"),
                .option(
                    "type", \.type, .text("MEDIA-TYPE"), standard: "application/octet-stream",
                    "what the file is"),
            ] + transferCommonParameters.map { $0.lifted(to: \.common) } + [
                .flag("json", \.place.isJSON, "print JSON, on a terminal too")
            ] + transferPlaceParameters.map { $0.lifted(to: \.place) },
            run: runTransferPut)
    }
}

struct TransferPutArguments {
    enum Method: String, CaseIterable, Sendable {
        case put = "PUT"
        case post = "POST"
    }

    var file = ""
    var url = ""
    var mode = UploadOptions.Mode.automatic
    var version: UploadDialect?
    var method: Method?
    var field: String?
    var type = "application/octet-stream"
    var common = TransferCommonArguments()
    var place = TransferPlace()

    func plan() throws -> TransferPlan {
        var plan = TransferPlan(
            .upload, url, file: try Files.absolute(file), session: common.session)
        plan.options.upload = try upload()
        try common.apply(to: &plan.options)
        return plan
    }
}

extension TransferPutArguments {
    private func upload() throws -> UploadOptions {
        guard version == nil || mode == .automatic || mode == .resumable else {
            throw UsageFailure("--draft: goes with --protocol automatic and resumable")
        }
        guard field == nil || mode == .form else {
            throw UsageFailure("--field: goes with --protocol form")
        }
        var upload = UploadOptions()
        upload.mode = mode
        upload.version = version ?? upload.version
        upload.method = method?.rawValue
        upload.field = field ?? upload.field
        upload.contentType = type
        try upload.check()
        return upload
    }
}

extension ValueSyntax where Value == UploadDialect {
    /// A version of the IETF's resumable uploads.
    static var uploadVersion: ValueSyntax {
        .reading("VERSION", wanted: "a version of the draft, 3 to 8, or 'standard'") { text in
            text == "standard" ? .standard : UploadDialect(name: "draft \(text)")
        }
    }
}

func runTransferPut(
    _ arguments: TransferPutArguments, _ environment: Environment
) async throws -> ExitCode {
    try await arguments.place.run(
        try arguments.plan(), waits: arguments.common.waits, environment)
}
