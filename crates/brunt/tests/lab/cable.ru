# A Rails application of Action Cable alone: the chat of seed 001, and an echo. Debian's packages, no bundler.
# Environment: CABLE_ADAPTER=async|redis, REDIS_URL, RAILS_LOG=path, LOG_LEVEL.
ENV["RAILS_ENV"] ||= "production"
require "logger"
require "rails"
require "action_controller/railtie"
require "action_cable/engine"

class CableApp < Rails::Application
  config.root = __dir__
  config.load_defaults 6.1
  config.eager_load = true
  config.secret_key_base = "0" * 64
  config.hosts.clear
  config.log_level = (ENV["LOG_LEVEL"] || "info").to_sym
  config.logger = ActiveSupport::Logger.new(ENV["RAILS_LOG"] || File::NULL)
  config.action_cable.mount_path = "/cable"
  config.action_cable.disable_request_forgery_protection = true
  config.action_cable.cable = {
    "adapter" => ENV["CABLE_ADAPTER"] || "async", "url" => ENV["REDIS_URL"], "channel_prefix" => "brunt"
  }
end

module ApplicationCable
  class Connection < ActionCable::Connection::Base
    identified_by :uid, :uname
    def connect
      name, id = cookies[:uid].to_s.split("/")
      reject_unauthorized_connection unless name && id
      self.uname, self.uid = name, id
    end
  end
end

class ChatChannel < ActionCable::Channel::Base
  def subscribed
    return reject unless params[:id]
    stream_from "chat_#{params[:id]}"
  end

  def speak(data)
    message = { action: "newMessage", author_id: uid, author: uname, message: data["message"] }
    ActionCable.server.broadcast "chat_#{params[:id]}", message
  end
end

class EchoChannel < ActionCable::Channel::Base
  def subscribed; end
  def echo(data); transmit data; end
end

class PagesController < ActionController::Base
  def show
    render inline: '<html><head><meta name="csrf-token" content="token-of-the-page"><meta name="action-cable-url" content="/cable"></head></html>'
  end
end

CableApp.initialize!
CableApp.routes.draw { root to: "pages#show" }
run CableApp
