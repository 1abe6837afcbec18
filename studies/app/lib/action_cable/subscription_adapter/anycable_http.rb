# Broadcasts go to anycable-go by HTTP. Action Cable looks for its adapters in this folder of the load path.
require "json"
require "net/http"

module ActionCable
  module SubscriptionAdapter
    # `cable: { adapter: anycable_http }`: broadcasts go to anycable-go, and this process has no subscribers.
    class AnycableHttp < Base
      def broadcast(channel, payload)
        url = URI(ENV.fetch("ANYCABLE_BROADCAST_URL"))
        http = (Thread.current[:anycable_http] ||= Net::HTTP.start(url.host, url.port))
        http.post(url.path, JSON.generate(stream: channel, data: payload), "Content-Type" => "application/json")
      end

      def subscribe(*); end

      def unsubscribe(*); end

      def shutdown; end
    end
  end
end
