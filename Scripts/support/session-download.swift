// Downloads as a program with URLSession does: to a file, and on with the resume data, if there is any.
// usage: session-download URL FILE [CA]
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

final class Download: NSObject, URLSessionDownloadDelegate, @unchecked Sendable {
    let done = DispatchSemaphore(value: 0)
    let file: URL
    var failure: (any Error)?

    init(_ file: String) { self.file = URL(fileURLWithPath: file) }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        guard (downloadTask.response as? HTTPURLResponse)?.statusCode == 200 else {
            failure = URLError(.badServerResponse)
            return
        }
        do {
            if FileManager.default.fileExists(atPath: file.path) {
                try FileManager.default.removeItem(at: file)
            }
            try FileManager.default.moveItem(at: location, to: file)
        } catch {
            failure = error
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        failure = failure ?? error
        done.signal()
    }
}

let words = CommandLine.arguments
guard words.count > 2, let url = URL(string: words[1]) else { exit(2) }
let download = Download(words[2])
let session = URLSession(configuration: .default, delegate: download, delegateQueue: nil)
let resume = words[2] + ".resume"
if let data = FileManager.default.contents(atPath: resume) {
    session.downloadTask(withResumeData: data).resume()
} else {
    session.downloadTask(with: url).resume()
}
download.done.wait()
if let failure = download.failure {
    let data = (failure as NSError).userInfo["NSURLSessionDownloadTaskResumeData"] as? Data
    if let data { try? data.write(to: URL(fileURLWithPath: resume)) }
    FileHandle.standardError.write(Data("\(failure)\n".utf8))
    exit(1)
}
