import Foundation
import RangeVectors
import Testing

extension RealClientTests {
    /// The rows of `NginxVector`, each asked of our content server and of nginx over real sockets.
    struct NginxComparisonTests {
        /// What has to be equal, with the boundary of a multipart aside.
        private struct Answer: Equatable {
            let status: Int
            let contentRange: String?
            let contentType: String?
            let lastModified: String?
            /// `nil` where it is a server's own text for an error.
            let body: Data?
            let parts: [RawResponse.Part]?

            init(_ response: RawResponse) {
                status = response.status
                contentRange = response["Content-Range"]
                parts = response.parts
                let isContent = [200, 206].contains(status)
                contentType = isContent && parts == nil ? response["Content-Type"] : nil
                lastModified = isContent ? response["Last-Modified"] : nil
                body = (isContent || status == 304) && parts == nil ? response.body : nil
            }
        }

        @Test(.needs()) func agreesWithNginx() async throws {
            let folder = try Folder()
            let root = try Self.files(in: folder)
            let ours = try await ContentProcess(in: folder, root: root)
            let nginx = try FileServer(root: root, in: folder)
            var agreeing = 0
            for row in NginxVector.all {
                let own = try await Self.ask(row, of: ours.port)
                let other = Answer(try await Self.ask(row, of: nginx.port))
                Self.expectAsStated(own, row)
                if let difference = row.nginxDiffers {
                    #expect(other.status == difference.status, "\(row.name)")
                    #expect(Answer(own) != other, "nginx agrees: \(row.name)")
                } else {
                    #expect(Answer(own) == other, "\(row.name)")
                    agreeing += 1
                }
            }
            #expect(agreeing >= 40)
            try await ours.end()
            try await nginx.end()
        }

        /// Checks the whole of a response against the row, as a client sees it.
        private static func expectAsStated(_ response: RawResponse, _ row: NginxVector) {
            #expect(response.status == row.status, "\(row.name)")
            #expect(response["Content-Range"] == row.contentRange, "\(row.name)")
            let length = response["Content-Length"].flatMap { Int($0) }
            if row.method == "HEAD" || row.status == 304 {
                #expect(response.body.isEmpty, "\(row.name)")
            } else {
                #expect(length == response.body.count, "\(row.name)")
            }
            guard let parts = row.parts, row.method == "GET" else { return }
            if parts.count == 1 {
                #expect(response.body.elementsEqual(NginxVector.digits(parts[0])), "\(row.name)")
            } else {
                let expected = parts.map { Data(NginxVector.digits($0)) }
                #expect(response.parts?.map(\.content) == expected, "\(row.name)")
            }
        }

        private static func ask(_ row: NginxVector, of port: UInt16) async throws -> RawResponse {
            let path = "/\(row.size).txt"
            let tag = try await RawResponse(from: port, "HEAD", path)["ETag"]
            return try await RawResponse(
                from: port, row.method, path, row.fields(entityTag: try #require(tag)))
        }

        /// A folder with a file of each size that is asked for.
        private static func files(in folder: Folder) throws -> String {
            for row in NginxVector.all {
                let path = try folder.write("www/\(row.size).txt", Data(row.content))
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSince1970: Double(NginxVector.modified))],
                    ofItemAtPath: path)
            }
            return folder.path("www")
        }
    }
}
