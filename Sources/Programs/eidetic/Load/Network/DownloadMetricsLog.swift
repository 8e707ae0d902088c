import EideticCLI
import EideticCore
import EideticFetch

/// The metrics of the downloads of a run: one JSON object per line, in the order of completion.
final class DownloadMetricsLog: Sendable {
    private let lines = Guarded<[String]>([])

    func append(request: FetchRequest, result: Result<FetchResponse, EideticError>) {
        let line = JSON.object(Self.members(request: request, result: result)).text
        lines.withLock { $0.append(line) }
    }

    var bytes: [UInt8] { lines.withLock { $0.flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] } } }

    private static func members(
        request: FetchRequest,
        result: Result<FetchResponse, EideticError>
    ) -> [(name: String, value: JSON)] {
        switch result {
        case .failure(let error):
            return [
                ("url", .url(request.url)), ("status", .optional(error.httpStatus)),
                ("error", .redacted("\(error.code): \(error.message)")),
            ]
        case .success(let response):
            let metrics = response.metrics
            return [
                ("url", .url(request.url)), ("status", .integer(response.status)), ("error", .null),
                ("effective_url", .url(response.effectiveURL)), ("http", .string(metrics.httpVersion)),
                ("address", .string(metrics.remoteAddress)), ("reused", .bool(metrics.isReusedConnection)),
                ("queued_ms", .number(metrics.queued.inMilliseconds)),
                ("lookup_ms", .number(metrics.nameLookup.inMilliseconds)),
                ("connect_ms", .number(metrics.connect.inMilliseconds)),
                ("tls_ms", .number(metrics.tls.inMilliseconds)),
                ("first_byte_ms", .number(metrics.firstByte.inMilliseconds)),
                ("total_ms", .number(metrics.total.inMilliseconds)), ("header_bytes", .integer(metrics.headerBytes)),
                ("body_bytes", .integer(metrics.bodyBytes)), ("resumed_bytes", .integer(metrics.resumedBytes)),
                ("redirects", .integer(metrics.redirectCount)), ("attempts", .integer(metrics.attemptCount)),
            ]
        }
    }
}
