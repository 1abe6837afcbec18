# What the anycable gem would bring: AnyCable's "RPC over HTTP", run on the application's own connection and channels.
# Mounted at /_anycable; the broadcasts take the way of lib/action_cable/subscription_adapter/anycable_http.rb.
require "json"

module AnyCableRpc
  ERROR, SUCCESS, FAILURE = 0, 1, 2

  # What the RPC adds to a connection; cookies, identified_by and #connect are the application's class.
  module Remote
    attr_reader :transmissions, :streams, :stops

    def prepare(env)
      @env, @server, @coder, @logger = env, ActionCable.server, ActiveSupport::JSON, Rails.logger
      @transmissions, @streams, @stops = [], [], false
      self
    end

    def transmit(message)
      @transmissions << (message.is_a?(String) ? message : @coder.encode(message))
    end

    def close(reason: nil, reconnect: true)
      transmit(type: "disconnect", reason: reason, reconnect: reconnect)
    end

    def identity
      JSON.generate(identifiers.to_h { |name| [name, instance_variable_get("@#{name}")] })
    end

    def identity=(text)
      JSON.parse(text).each { |name, value| instance_variable_set("@#{name}", value) }
    end

    def add_stream(name)
      @streams << name
    end

    def stop_streams
      @stops = true
    end

    # A rejected subscription asks the connection's subscriptions to forget it.
    def subscriptions
      self
    end

    def remove_subscription(*); end
  end

  # Prepended to the channels: anycable-go is notified of the streams of remote connections.
  module Streams
    def stream_from(name, *, **)
      connection.is_a?(Remote) ? connection.add_stream(String(name)) : super
    end

    def stop_all_streams
      connection.is_a?(Remote) ? connection.stop_streams : super
    end
  end

  module_function

  def call(env)
    reply = answer(env["PATH_INFO"], JSON.parse(env["rack.input"].read))
    [reply ? 200 : 404, { "Content-Type" => "application/json" }, [JSON.generate(reply || {})]]
  end

  def answer(path, request)
    connection = connection(request["env"] || {})
    case path
    when "/connect" then connect(connection)
    when "/command" then command(connection, request)
    when "/disconnect" then { status: SUCCESS }
    end
  rescue StandardError => e
    Rails.logger.error("anycable rpc: #{e.class}: #{e.message}")
    { status: ERROR, error_msg: "#{e.class}: #{e.message}" }
  end

  def connect(connection)
    connection.connect
    connection.transmissions.unshift(JSON.generate(type: "welcome"))
    { status: SUCCESS, identifiers: connection.identity, transmissions: connection.transmissions }
  rescue ActionCable::Connection::Authorization::UnauthorizedError
    refusal = JSON.generate(type: "disconnect", reason: "unauthorized", reconnect: false)
    { status: FAILURE, transmissions: [refusal] }
  end

  def command(connection, request)
    connection.identity = request["connection_identifiers"]
    channel = channel(connection, request["identifier"])
    case request["command"]
    when "subscribe" then channel.subscribe_to_channel
    when "unsubscribe" then channel.unsubscribe_from_channel
    when "message" then channel.perform_action(JSON.parse(request["data"]))
    end
    rejected = channel.send(:subscription_rejected?)
    { status: rejected ? FAILURE : SUCCESS, streams: rejected ? [] : connection.streams,
      stop_streams: connection.stops, transmissions: connection.transmissions }
  end

  def connection(env)
    url = URI(env["url"] || "/")
    rack = Rack::MockRequest.env_for(url.to_s)
    (env["headers"] || {}).each { |name, value| rack["HTTP_#{name.upcase.tr("-", "_")}"] = value }
    kind = ActionCable.server.config.connection_class.call
    kind.allocate.extend(Remote).prepare(Rails.application.env_config.merge(rack))
  end

  def channel(connection, identifier)
    params = JSON.parse(identifier).with_indifferent_access
    kind = params[:channel].safe_constantize
    raise ArgumentError, "unknown channel #{params[:channel]}" unless kind && kind < ActionCable::Channel::Base

    kind.prepend(Streams) unless kind < Streams
    kind.new(connection, identifier, params)
  end
end
