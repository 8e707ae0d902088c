import EideticCodecs
import EideticCore

extension ImageLoader {
    /// Returns the generator of a job's previews; `nil` unless the request is progressive.
    func previewGenerator(for job: Job) -> PreviewGenerator? {
        let request = job.request
        guard request.options.contains(.progressive) else { return nil }
        let options = decodeOptions(for: request)
        return PreviewGenerator(pools: pools, context: job.context) { [decodeLimits] in
            let decoder = PreviewDecoder(options: options, limits: decodeLimits, context: job.context)
            return { bytes throws(EideticError) in
                guard let preview = try decoder.preview(of: bytes) else { return nil }
                return try Self.transform(preview: preview, for: request)
            }
        } report: {
            job.report(.preview($0))
        }
    }
}
