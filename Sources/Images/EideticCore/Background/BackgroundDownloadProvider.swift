/// A provider of a service that performs downloads for a pipeline while the application is suspended or has ended.
///
/// The pipeline hands loads over to the service when their background time expires. `BackgroundDownloads` of the
/// product `EideticTransfer` conforms to this protocol.
public protocol BackgroundDownloadProvider: Sendable {
    /// The service.
    var service: BackgroundDownloadService { get }
}

/// A service that performs downloads for a pipeline while the application is suspended or has ended.
public struct BackgroundDownloadService: Sendable {
    package let downloader: any BackgroundDownloader

    package init(_ downloader: any BackgroundDownloader) { self.downloader = downloader }
}

/// The work of a service of background downloads.
package protocol BackgroundDownloader: Sendable {
    /// Hands a download over; has no effect if one with the same key is active.
    ///
    /// When it returns, the download goes on although this process ends.
    ///
    /// - Throws: `limitExceeded` for a key or header fields that are too long, or too many downloads; `cancelled`; an
    ///   error of the service.
    func download(_ request: BackgroundDownloadRequest) async throws(EideticError)

    /// Sets the receiver of downloads that have ended, also of those that earlier processes have handed over.
    ///
    /// It is called for one download at a time, and must not block. It returns whether the download is handled; one
    /// that is not is delivered to the next receiver, also of a later process.
    func setReceiver(_ receiver: @escaping @Sendable (BackgroundDownload) async -> Bool)

    /// Waits until a download that has ended, and was not yet passed to the receiver, is handled by it.
    ///
    /// A load calls it before it makes a request, so that what an earlier process has handed over is not downloaded
    /// again.
    ///
    /// - Returns: `true` if there was such a download; `false` if there is none, or it has not ended, or the calling
    ///   task is cancelled.
    func waitForArrival(of key: String) async -> Bool
}

/// A download to be performed in the background.
package struct BackgroundDownloadRequest: Sendable {
    /// The text by which the receiver knows the download; contains no secret.
    package let key: String
    package let url: String
    /// The header fields to send, by name.
    package let headers: [(name: String, value: String)]

    package init(key: String, url: String, headers: [(name: String, value: String)] = []) {
        self.key = key
        self.url = url
        self.headers = headers
    }
}

/// A download that has ended in the background.
package struct BackgroundDownload: Sendable {
    /// A response with its body in a file.
    package struct Response: Sendable {
        /// The path of the file, which is removed when the receiver returns.
        package let path: String
        package let status: Int
        /// The header fields, in order.
        package let headers: [(name: String, value: String)]

        package init(path: String, status: Int, headers: [(name: String, value: String)]) {
            self.path = path
            self.status = status
            self.headers = headers
        }
    }

    package let key: String
    /// The response, of whatever status, or the error of the download.
    package let result: Result<Response, EideticError>

    package init(key: String, result: Result<Response, EideticError>) { (self.key, self.result) = (key, result) }
}
