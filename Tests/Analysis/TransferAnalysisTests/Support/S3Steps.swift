@testable import TransferAnalysis

/// The steps of an upload to S3, and its framing.
protocol S3Steps {}

extension S3Steps {
    static var done: Step { done(answer: "<Result/>") }

    static func done(answer: String, error: String? = nil) -> Step {
        Step("POST /b/k?uploadId=U", "<x/>", "200", answer, error: error)
    }

    static func done(_ numbers: Int...) -> Step {
        let parts = numbers.map {
            "<Part>\n<PartNumber> \($0) </PartNumber><ETag>&quot;e&quot;</ETag></Part>"
        }
        return done.with {
            $0.content =
                "<CompleteMultipartUpload xmlns=\"x\">\(parts.joined())</CompleteMultipartUpload>"
        }
    }

    static func part(_ number: Int, _ bytes: String, _ fields: String = "") -> Step {
        Step("PUT /b/k?partNumber=\(number)&uploadId=U" + fields, bytes, "200")
    }

    static func chunked(_ count: Int) -> String {
        framing + "\nX-Amz-Decoded-Content-Length: \(count)"
    }

    static var framing: String { "\nContent-Encoding: aws-chunked" }

    /// - Parameter sign: repeated, the signature of each chunk; unsigned if it is empty.
    static func frames(_ chunks: String..., sign: String = "") -> String {
        frames(chunks, sign: sign)
    }

    static func frames(_ chunks: [String], sign: String = "") -> String {
        let signature = sign.isEmpty ? "" : ";chunk-signature=" + String(repeating: sign, count: 8)
        return chunks.map {
            String($0.utf8.count, radix: 16) + signature + "\r\n" + $0 + "\r\n"
        }.joined() + "0\(signature)\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n"
    }
}
